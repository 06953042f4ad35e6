"""A stack that moves to another Pi-hole, a target that is given up, and the doctor on a Pi-hole."""

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from dev.controlplane import ControlPlane
from dev.pihole import PiHole
from dev.toolchain import Toolchain
from tests.engine.records import MINE, Registry, set_registry
from tests.engine.stage import Said
from tests.engine.test_doctor import examined, unwell

NOTHING = "Nothing to do: everything is as it was deployed.\n"
PASSWORD = "of both of them"  # noqa: S105


def acknowledged(refused: Said) -> str:
    """Return the digest of a refusal."""
    return str(re.findall(r"--acknowledge ([0-9a-f]{12})", refused.err)[-1])


@pytest.fixture
def registry(plane: ControlPlane, tools: Toolchain) -> Iterator[Registry]:
    with (
        PiHole(password=PASSWORD, records=MINE) as pihole,
        set_registry(plane, tools, pihole) as made,
    ):
        yield made
        assert (made.theirs, made.is_at_rest()) == (MINE, True)


def test_a_new_pi_hole_gets_every_record_and_the_old_one_is_emptied_separately(
    registry: Registry,
) -> None:
    stage = registry.stage
    registry.register("web", "www", "shop")
    stage.pic("up")
    with PiHole(password=PASSWORD, records=MINE) as another:
        stage.settings(piholeUrl=another.url)
        moved = replace(registry, pihole=another)

        said = stage.pic("up")

        assert (said.code, said.out.splitlines()[-1]) == (0, "Done: 2 created.")
        assert stage.pic("up").out == NOTHING
        assert (moved.theirs, moved.is_at_rest()) == (MINE, True)
        assert moved.ours == registry.ours == registry.lines("www", "shop")

    # What a stack without a state, for the first Pi-hole only, has to do with it.
    stage.lose_state()
    stage.settings(piholeUrl=registry.pihole.url, targets=["pihole"])
    digest = acknowledged(stage.pic("destroy"))

    assert stage.pic("destroy", "--acknowledge", digest).code == 0
    assert (registry.ours, len(stage.identities())) == ([], 2)


def test_a_target_can_be_removed_once_no_ingress_wants_it(registry: Registry) -> None:
    stage = registry.stage
    registry.register("web", "www")
    stage.pic("up")
    stage.ingress("web", "www")

    digest = acknowledged(stage.pic("up"))
    done = stage.pic("up", "--acknowledge", digest)
    registry.targets("pangolin")

    assert (done.code, stage.pic("up").code) == (0, 0)
    assert (registry.ours, registry.remembered, len(stage.identities())) == ([], [], 1)


def test_the_doctor_passes_a_healthy_pi_hole_and_reports_a_wrong_password(registry: Registry) -> None:
    registry.register("web", "www")
    registry.stage.pic("up")

    code, findings = examined(registry.stage)
    messages = {each["name"]: each["message"] for each in findings}

    assert (code, unwell(findings)) == (0, [])
    assert messages["pihole records"] == "1 of this cluster, 4 of others"

    code, findings = examined(registry.stage, PIHOLE_PASSWORD="wrong")  # noqa: S106
    assert (code, [name for name, verdict, _ in unwell(findings) if verdict == "fail"]) == (
        2,
        ["pihole login"],
    )
