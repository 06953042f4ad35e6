"""A list that is too long for a line for each record, and the upgrade to it loses no name."""

import pytest

from dev.controlplane import ControlPlane
from dev.pihole import PiHole, dnsmasq
from dev.probing import Probe
from dev.toolchain import Toolchain
from pic.pihole.lines import parse
from tests.engine.records import IP, OTHER_IP, Registry, set_registry

STACK_ID = "0123456789abcdef"
FOREIGN = tuple(f"10.1.0.{index} other-{index}.lan # {'x' * 230}" for index in range(1, 180))
OLD, NEW = 150, 100

pytestmark = pytest.mark.skipif(dnsmasq() is None, reason="no dnsmasq: run `make servers`")


def test_an_upgrade_from_a_line_for_each_name_with_an_old_marker_loses_no_name(
    plane: ControlPlane, tools: Toolchain
) -> None:
    with (
        PiHole(records=FOREIGN, dns=True) as pihole,
        set_registry(plane, tools, pihole, ["pihole"]) as registry,
    ):
        stage, marker = registry.stage, registry.markers[1]
        stage.settings(stackId="", maxRetargeted=OLD)
        words = [f"app-{number:03}-of-a-team-with-a-long-name" for number in range(OLD)]
        registry.register("web", *words)
        assert stage.pic("up").code == 0
        assert sum(line.endswith(marker) for line in pihole.lines) == OLD
        writes = pihole.writes

        stage.settings(stackId=STACK_ID, piholeTargetIp=OTHER_IP)
        registry.register("more", *(f"new-{number:03}-of-a-team" for number in range(NEW)))
        names = [stage.host(word) for word in words]
        with Probe(pihole, names, (IP, OTHER_IP)) as probe:
            upgraded = stage.pic("up")

        assert upgraded.code == 0, upgraded.err
        counts = probe.counts
        assert (counts.queries > 0, counts.missing, counts.unexpected) == (True, 0, 0)
        assert pihole.writes - writes <= 3
        assert tuple(pihole.lines[: len(FOREIGN)]) == FOREIGN
        assert _shared(registry) == OLD + NEW
        assert all(pihole.ask(name) == [OTHER_IP] for name in names)
        assert stage.pic("up").out.startswith("Nothing to do")


def _shared(registry: Registry) -> int:
    """Return how many names the stack has on the lines after those of others, which are few."""
    lines = [parse(text) for text in registry.pihole.lines[len(FOREIGN) :]]
    assert 0 < len(lines) < 20
    marker = registry.markers[0].strip().removeprefix("# ")
    assert {line.comment for line in lines if line} == {
        f"{marker}*{len(line.names)}" for line in lines if line
    }
    return sum(len(line.names) for line in lines if line)
