"""A move to another Pi-hole, the removal of a target, and the doctor on a Pi-hole."""

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from dev.controlplane import ControlPlane
from dev.pihole import PiHole
from dev.toolchain import Toolchain
from tests.engine.doctor import not_passed, run_doctor
from tests.engine.records import MANUAL, Registry, set_registry
from tests.engine.stage import PicRun

NOTHING = "Nothing to do: everything is as it was deployed.\n"
PASSWORD = "of both Pi-holes"  # noqa: S105


def acknowledgement(refusal: PicRun) -> str:
    """Return the digest of a refusal."""
    return str(re.findall(r"--acknowledge ([0-9a-f]{12})", refusal.err)[-1])


@pytest.fixture
def registry(plane: ControlPlane, tools: Toolchain) -> Iterator[Registry]:
    with (
        PiHole(password=PASSWORD, records=MANUAL) as pihole,
        set_registry(plane, tools, pihole) as registry,
    ):
        yield registry
        assert (registry.foreign, registry.is_at_rest()) == (MANUAL, True)


def test_a_new_pi_hole_gets_every_record_and_the_old_one_is_emptied_separately(
    registry: Registry,
) -> None:
    stage = registry.stage
    registry.register("web", "www", "shop")
    stage.pic("up")
    with PiHole(password=PASSWORD, records=MANUAL) as new_pihole:
        stage.settings(piholeUrl=new_pihole.url)
        moved = replace(registry, pihole=new_pihole)

        run = stage.pic("up")

        assert (run.code, run.out.splitlines()[-1]) == (0, "Done: 2 created.")
        assert stage.pic("up").out == NOTHING
        assert (moved.foreign, moved.is_at_rest()) == (MANUAL, True)
        assert moved.ours == registry.ours == registry.lines("www", "shop")

    # Without its state, a stack whose only target is the old Pi-hole imports and deletes its
    # records, and leaves the resources of Pangolin alone.
    stage.lose_state()
    stage.settings(piholeUrl=registry.pihole.url, targets=["pihole"])
    digest = acknowledgement(stage.pic("destroy"))

    assert stage.pic("destroy", "--acknowledge", digest).code == 0
    assert (registry.ours, len(stage.identities())) == ([], 2)


def test_a_target_can_be_removed_once_no_ingress_wants_it(registry: Registry) -> None:
    stage = registry.stage
    registry.register("web", "www")
    stage.pic("up")
    stage.ingress("web", "www")

    digest = acknowledgement(stage.pic("up"))
    run = stage.pic("up", "--acknowledge", digest)
    registry.targets("pangolin")

    assert (run.code, stage.pic("up").code) == (0, 0)
    assert (registry.ours, registry.remembered, len(stage.identities())) == ([], [], 1)


def test_the_doctor_passes_a_healthy_pi_hole_and_reports_a_wrong_password(
    registry: Registry,
) -> None:
    registry.register("web", "www")
    registry.stage.pic("up")

    code, checks = run_doctor(registry.stage)
    messages = {check["name"]: check["message"] for check in checks}

    assert (code, not_passed(checks)) == (0, [])
    assert messages["pihole records"] == "1 belong to this stack, 4 do not"

    code, checks = run_doctor(registry.stage, PIHOLE_PASSWORD="wrong")  # noqa: S106
    assert (code, [name for name, verdict, _ in not_passed(checks) if verdict == "fail"]) == (
        2,
        ["pihole login"],
    )
