"""Tests which ConfigMaps a plan declares for its register."""

from dataclasses import replace
from importlib.metadata import version

from pic.core.model import Plan, Snapshot
from pic.core.register import Bucket, bucket_of
from pic.run import register
from pic.run.targets.interface import Declaration, Declarations, HookSet
from pic.run.targets.pangolin import declaration
from pic.settings.parse import Settings
from pic.snapshot import register as stored_form
from tests.support import memories
from tests.support.memories import entry

A, B = "a.example.com", "b.example.com"
SETTINGS = Settings(register_namespace="platform")
REGISTER = memories.register([entry(A), entry(B)])
PLAN = Plan(register=REGISTER)
DIGITS = sorted((bucket_of(A), bucket_of(B)))


def config_map(digit: str, import_id: str = "", stack: str = "pic.prod") -> Declaration:
    name = f"pic-{stack.removeprefix('pic.')}-{digit}"
    inputs = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": name,
            "namespace": "platform",
            "labels": {
                "pic.ingress.k8s.io/stack": stack,
                "pic.ingress.k8s.io/bucket": digit,
            },
            "annotations": {
                "pulumi.com/patchFieldManager": "pic",
                "pulumi.com/patchForce": "true",
            },
        },
        "data": stored_form.data(REGISTER)[digit],
    }
    return Declaration(f"register-{digit}", inputs, import_id)


def declared(snapshot: Snapshot, plan: Plan = PLAN) -> Declarations:
    return register.declarations(plan, snapshot, SETTINGS, "pic.prod")


def test_each_bucket_with_hosts_is_a_config_map_without_hooks() -> None:
    assert declared(Snapshot("cluster-1", registers={})) == Declarations(
        "kubernetes:core/v1:ConfigMap",
        version("pulumi-kubernetes"),
        declaration.provider("cluster-1", SETTINGS),
        HookSet.NONE,
        "1m",
        [config_map(digit) for digit in DIGITS],
    )


def test_a_config_map_that_exists_is_imported_whatever_it_contains() -> None:
    first, second = DIGITS
    stored = replace(REGISTER, buckets={first: Bucket()}, unreadable=(second,))

    assert declared(Snapshot(registers={"pic.prod": stored})).resources == [
        config_map(first, f"platform/pic-prod-{first}"),
        config_map(second, f"platform/pic-prod-{second}"),
    ]


def test_the_register_of_another_stack_is_not_imported() -> None:
    snapshot = Snapshot(registers={"pic.test": REGISTER})

    assert declared(snapshot).resources == [config_map(digit) for digit in DIGITS]


def test_a_plan_without_a_register_declares_no_config_map() -> None:
    assert declared(Snapshot(), Plan()).resources == []
