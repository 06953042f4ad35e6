"""Two stacks of one cluster on one Pi-hole, and the upgrade of a stack to a marker of its own."""

from collections.abc import Iterator

import pytest

from dev.controlplane import ControlPlane
from dev.pihole import PiHole
from dev.toolchain import Toolchain
from tests.engine.records import IP, MANUAL, OTHER_IP, Registry, set_registry

NOTHING = "Nothing to do: everything is as it was deployed.\n"
ONE, TWO = "0123456789abcdef", "fedcba9876543210"


@pytest.fixture
def pihole() -> Iterator[PiHole]:
    with PiHole(records=MANUAL) as pihole:
        yield pihole
        assert (pihole.most_at_once <= 1, pihole.sessions, pihole.deaths) == (True, 0, [])


@pytest.fixture
def one(plane: ControlPlane, tools: Toolchain, pihole: PiHole) -> Iterator[Registry]:
    with set_registry(plane, tools, pihole, ["pihole"]) as registry:
        registry.stage.settings(stackId="")
        yield registry


@pytest.fixture
def two(plane: ControlPlane, tools: Toolchain, pihole: PiHole) -> Iterator[Registry]:
    with set_registry(plane, tools, pihole, ["pihole"]) as registry:
        registry.stage.settings(stackId=TWO)
        yield registry


def line(registry: Registry, word: str, marker: str, ip: str = IP) -> str:
    """Return the line of a host with the marker of a stack, or of an earlier version."""
    cluster = registry.stage.cluster.id
    comment = f"k8s:{cluster[:8]}.{marker[:8]}" if marker else f"k8s:{cluster}"
    return f"{ip} {registry.stage.host(word)} # {comment}"


def test_24_two_stacks_of_one_cluster_leave_each_others_records(
    one: Registry, two: Registry, pihole: PiHole
) -> None:
    one.stage.settings(stackId=ONE)
    one.register("web", "www", "old")
    two.register("web", "app", "old")
    for _ in range(2):
        assert [stack.stage.pic("up").code for stack in (one, two)] == [0, 0]
    writes = pihole.writes

    assert [stack.stage.pic("up").out for stack in (one, two)] == [NOTHING, NOTHING]
    assert pihole.writes == writes
    one.register("web", "www", ip=OTHER_IP)
    two.register("web", "app")
    assert [stack.stage.pic("up").code for stack in (one, two)] == [0, 0]
    assert pihole.lines[: len(MANUAL)] == [*MANUAL]
    assert set(pihole.lines[len(MANUAL) :]) == {
        line(one, "www", ONE, OTHER_IP),
        line(two, "app", TWO),
    }


def test_24_a_stack_gets_its_marker_without_a_change_of_any_record(
    one: Registry, pihole: PiHole
) -> None:
    words = ("app", "old", "www")
    one.register("web", *words)
    assert one.stage.pic("up").code == 0
    lines, writes = pihole.lines, pihole.writes
    one.stage.settings(stackId=ONE)

    upgraded = one.stage.up()

    assert (upgraded.code, upgraded.warnings, upgraded.complaints) == (0, (), ())
    assert set(upgraded.steps) <= {("update", "pihole")}
    assert (pihole.lines, pihole.writes) == (lines, writes)
    one.register("web", "app", "www")
    one.register("moving", "www", ip=OTHER_IP)
    one.register("web", "app")
    assert one.stage.pic("up").code == 0
    assert pihole.lines == [
        *MANUAL,
        line(one, "app", ""),
        line(one, "www", ONE, OTHER_IP),
    ]
    assert one.stage.pic("up").out == NOTHING


def test_24_a_new_stack_leaves_the_records_of_one_of_an_earlier_version(
    one: Registry, two: Registry, pihole: PiHole
) -> None:
    one.register("web", "www", "app")
    assert one.stage.pic("up").code == 0
    lines = pihole.lines
    two.register("web", "new")
    two.register("same", "same", annotations={"pihole.io/hosts": one.stage.host("www")})
    others = {"pihole.io/hosts": one.stage.host("app")}
    two.register("other", "other", ip=OTHER_IP, annotations=others)

    first, second = two.stage.pic("up"), two.stage.pic("up")
    assert (first.code, "RecordConflict" in first.err, second.out) == (0, True, NOTHING)
    assert two.remembered == [f"{two.stage.host('new')}/A"]
    for name in ("same", "other"):
        two.stage.cluster.delete("Ingress", two.stage.name, name)

    assert two.stage.pic("up").code == 0
    assert pihole.lines == [*lines, line(two, "new", TWO)]


def test_24_an_annotation_gives_nobody_a_record_that_has_no_marker(
    plane: ControlPlane, tools: Toolchain
) -> None:
    with (
        PiHole(api="dns-local") as pihole,
        set_registry(plane, tools, pihole, ["pihole"]) as registry,
    ):
        registry.stage.settings(piholeApi="dns-local")
        by_hand = [f"{IP} {registry.stage.host('nas')}", f"{IP} {registry.stage.host('tv')}"]
        pihole.lines = by_hand
        registry.register("web", "www")
        assert registry.stage.pic("up").code == 0
        hosts = ",".join(registry.stage.host(word) for word in ("nas", "tv"))
        claim = {"pihole.io/managed-hosts": hosts}

        registry.register("evil", "nas", "tv", annotations=claim)
        claimed = registry.stage.pic("up")
        registry.register("evil", "nas", ip=OTHER_IP, annotations=claim)
        moved = registry.stage.pic("up")
        registry.stage.lose_state()
        recovered = registry.stage.pic("up")

        assert [run.code for run in (claimed, moved, recovered)] == [0, 0, 0]
        assert "RecordConflict" in moved.err
        assert pihole.lines == [*by_hand, *registry.lines("www")]
        assert registry.remembered == [f"{registry.stage.host('www')}/A"]
