"""Tests what a run would do besides changing hosts: what it holds, and the register it writes."""

from dataclasses import replace

from pic.core.held import Held, Verdict, digest_of_all
from pic.core.model import Plan, Resource, Snapshot, Spec
from pic.core.register import Bucket, Register, bucket_of
from pic.planning.changes import Changes, between
from pic.planning.memory import NO_REGISTER
from tests.support.memories import CLUSTER, OURS, STACK_ID, entry, forgetful, register

STACK = "pic.prod"
NONE = Changes(STACK, CLUSTER)
A, B = "a.example.com", "b.example.com"
WANTED = Resource(A, "prod", "pic-a", (), {}, Spec())
HELD = Held(A, Verdict.REMOVED, "prod", "prod (public)", "", "too many", "0123456789abcdef")


def test_what_a_plan_holds_is_no_change_and_has_a_digest_for_all() -> None:
    other = replace(HELD, host=B, digest="fedcba9876543210")

    changes = planned_as(Plan(held=(HELD, other)))

    assert changes == replace(NONE, held=(HELD, other))
    assert not changes
    assert changes.acknowledge_all == digest_of_all(["fedcba9876543210", "0123456789abcdef"])
    assert NONE.acknowledge_all == ""


def test_a_plan_in_which_nothing_survives_says_so_of_each_part() -> None:
    assert planned_as(Plan(no_host_survives=True)) == replace(NONE, no_host_survives=True)
    assert planned_as(Plan(no_record_survives=True)) == replace(NONE, no_record_survives=True)


def test_only_a_bucket_that_differs_is_written_and_alone_it_is_a_run_but_no_change() -> None:
    stored = register([entry(A), entry(B)])
    digit, other = bucket_of(A), bucket_of(B)
    changed = replace(stored, buckets={**stored.buckets, digit: Bucket(STACK_ID, CLUSTER, 2)})
    without = replace(stored, buckets={digit: stored.buckets[digit]})

    assert planned_as(Plan(register=stored), stored).register == ()
    assert planned_as(Plan(), stored).register == ()
    changes = planned_as(Plan(register=changed), stored)
    assert changes == replace(NONE, register=(digit,))
    assert (bool(changes), changes.needs_run) == (False, True)
    assert planned_as(Plan(register=without), stored).register == (other,)
    assert not NONE.needs_run
    assert replace(NONE, created=(WANTED,)).needs_run


def test_the_id_of_another_stack_in_the_register_is_named() -> None:
    ours, theirs = register([entry(A)]), register([entry(A)], stack_id="0b0b0b0b")

    assert planned_as(Plan(), ours).other_stack_id == ""
    assert planned_as(Plan(), register([entry(A)], stack_id="")).other_stack_id == ""
    assert planned_as(Plan(), theirs) == replace(NONE, other_stack_id="0b0b0b0b")


def planned_as(plan: Plan, stored: Register = NO_REGISTER) -> Changes:
    """Compare a plan with an empty cluster that has a register."""
    memory = replace(forgetful(OURS), stored=stored)
    return between(Snapshot(CLUSTER), plan, STACK, memory)
