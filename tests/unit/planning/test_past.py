"""Tests how deployments and the register together tell the past."""

from pic.core.register import GoneBy, RecordEntry, Register
from pic.planning import past
from pic.planning.past import REGISTER, Deployment, Happening, Past, What
from tests.support.memories import entry, register

A, B = "a.example.com", "b.example.com"
JANUARY, MAY, JUNE = "2025-01-01T00:00:00Z", "2025-05-01T00:00:00Z", "2025-06-01T00:00:00Z"
MADE, LATER = Deployment(1, MAY), Deployment(2, JUNE)


def test_without_a_history_the_register_tells_since_when_and_why_a_host_went() -> None:
    gone = entry(B, sso=True, gone=JUNE, gone_by=GoneBy.ACKNOWLEDGED)
    unknown = entry("c.example.com", block_access=True, gone=MAY)
    record = RecordEntry("nas.lan/A", "192.0.2.1", "prod", since=MAY)

    told = past.tell([], [], register([entry(A), gone, unknown], [record]))

    lines = [(it.time, it.host, it.what, it.access, it.remark) for it in told.happenings]
    assert lines == [
        (JUNE, B, What.REMOVED, "", "its removal was acknowledged"),
        (MAY, "c.example.com", What.REMOVED, "", REGISTER),
        (MAY, "nas.lan", What.EXPOSED, "", REGISTER),
        (JANUARY, A, What.EXPOSED, "public", REGISTER),
        (JANUARY, B, What.EXPOSED, "login", REGISTER),
        (JANUARY, "c.example.com", What.EXPOSED, "blocked", REGISTER),
    ]
    assert told.hosts == {A, B, "c.example.com", "nas.lan"}
    assert (told.deployments, told.since, told.remarks) == (0, "", ())


def test_the_register_dates_what_is_older_than_the_deployments() -> None:
    before = [Happening("", A, What.EXPOSED, "prod/x"), Happening("", B, What.EXPOSED, "prod/y")]

    told = past.tell([MADE], before, register([entry(A)]), ["a remark"])

    assert [(it.time, it.host) for it in told.happenings] == [(JANUARY, A), ("", B)]
    assert (told.deployments, told.since, told.remarks) == (1, MAY, ("a remark",))


def test_a_deployment_counts_more_than_the_register() -> None:
    exposed = Happening(MAY, A, What.EXPOSED, deployment=MADE)
    changed = Happening(JUNE, A, What.CHANGED, deployment=LATER)

    told = past.tell([MADE, LATER], [exposed, changed], register([entry(A)]))

    assert told.happenings == (changed, exposed)
    assert past.of_host(told, B) == Past((), 2, MAY)
    assert past.of_host(told, A) == told


def test_clocks_that_differ_are_a_remark() -> None:
    told = past.tell([LATER, Deployment(3), MADE], [], Register())

    (remark,) = told.remarks
    assert remark.startswith("the clocks of the machines that deployed differ")
