"""When the program declares nothing, and what it tells."""

from collections.abc import Callable
from pathlib import Path

import pulumi
import pytest

from pic.cluster.listing import CRD, IDENTITY, NETWORKING
from pic.engine import program
from tests.program.conftest import Memory
from tests.support import engine
from tests.support.api import (
    CLUSTER,
    Api,
    fill_cluster,
    ingress,
    live_object,
)
from tests.support.engine import HOOKS, Seen

Run = Callable[..., Seen]
BOUND = {"pic:clusterId": CLUSTER}
A, B = "a.example.com", "b.example.com"


# The guard.


EMPTY = f"The plan has no hosts, and 1 of 1 hosts would be removed: {A}."


def test_a_real_run_that_is_refused_registers_nothing(api: Api, run: Run) -> None:
    fill_cluster(api, [], live_object(A))

    seen = run()

    assert isinstance(seen.error, pulumi.RunError)
    assert str(seen.error).splitlines()[0] == EMPTY
    assert (seen.resources, seen.outputs, seen.hooks) == ([], {}, HOOKS)


def test_a_preview_that_would_be_refused_declares_everything_and_warns(
    api: Api, run: Run, memory: Memory
) -> None:
    hosts = [f"h{at}.example.com" for at in range(6)]
    fill_cluster(api, [ingress("web", A)], *(live_object(host) for host in hosts))
    memory.keys = [("prod", f"pic-{host}") for host in hosts]

    seen = run(preview=True)

    assert seen.names == ["cluster", A]
    [(level, text)] = seen.log
    assert level == "WARNING"
    assert text.splitlines()[:2] == [
        "`pulumi up` would refuse this:",
        "6 of 6 hosts would be removed, but at most 5 may go in one run (pic:maxRemovals 5,"
        f" pic:maxRemovalRatio 0.2): {', '.join(hosts)}.",
    ]
    assert seen.error is None


def test_an_acknowledged_run_goes_through(api: Api, run: Run) -> None:
    fill_cluster(api, [], live_object(A))
    digest = str(run().error).rpartition("PIC_ACKNOWLEDGE=")[2].split()[0]

    seen = run(PIC_ACKNOWLEDGE=digest)

    assert (seen.error, seen.names) == (None, ["cluster"])


def test_another_cluster_is_refused(run: Run) -> None:
    seen = run({"pic:clusterId": "22222222-2222-3333-4444-555555555555"})

    assert str(seen.error).startswith(f"This is cluster {CLUSTER}, and the stack belongs to 2222")
    assert seen.resources == []


# What cannot be run.


@pytest.mark.parametrize("preview", [False, True])
def test_settings_that_cannot_be_right_are_told_at_once(run: Run, preview: bool) -> None:  # noqa: FBT001
    seen = run(
        {"pic:clusterId": "", "pic:maxRemovals": "many", "pic:events": "maybe", "pic:tunel": "x"},
        preview=preview,
    )

    assert isinstance(seen.error, pulumi.RunError)
    assert [line.partition(",")[0].partition(";")[0] for line in str(seen.error).splitlines()] == [
        "unknown setting pic:tunel",
        "pic:maxRemovals is 'many'",
        "pic:events is 'maybe'",
        "pic:clusterId is not set",
    ]
    assert (seen.resources, seen.hooks) == ([], HOOKS)


def test_settings_that_do_not_suit_a_deployment_are_told_at_once(run: Run) -> None:
    seen = run(
        {
            "pic:clusterId": "",
            "pic:kubeconfig": "/elsewhere",
            "pic:targets": "pangolin,pihole",
            "pic:piholeTargetIp": "192.0.2.1",
        }
    )

    assert str(seen.error) == (
        "pic:clusterId is not set, so a wrong kubeconfig could take everything down: run pic init"
        " --stack prod\n"
        "pic:kubeconfig cannot reach the engine's Kubernetes plugin by itself: run with"
        " KUBECONFIG=/elsewhere, or use pic up\n"
        "pic:targets has pihole, and pic:piholeUrl is not set: set it, or PIHOLE_URL\n"
        "pic:targets has pihole, and the password of Pi-hole is not set: set PIHOLE_PASSWORD or"
        " PIHOLE_API_TOKEN in the environment; an app password needs webserver.api.app_sudo"
    )
    assert seen.resources == []


def test_a_kubeconfig_that_is_also_in_the_environment_is_fine(api: Api, tmp_path: Path) -> None:
    path = api.kubeconfig(tmp_path / "config")
    config = {**BOUND, "pic:kubeconfig": path}

    seen = engine.run(lambda: program.run({"KUBECONFIG": path}), config)

    assert (seen.error, seen.names) == (None, ["cluster"])


def test_settings_of_other_projects_are_not_ours(run: Run) -> None:
    assert run({"aws:region": "eu"}).error is None


@pytest.mark.parametrize("path", [IDENTITY, CRD, f"{NETWORKING}/ingresses"])
@pytest.mark.parametrize("preview", [False, True])
def test_a_cluster_that_cannot_be_read_whole_registers_nothing(
    api: Api,
    run: Run,
    path: str,
    preview: bool,  # noqa: FBT001
) -> None:
    api.refuse(path, 401, "who are you")

    seen = run(preview=preview)

    assert isinstance(seen.error, pulumi.RunError)
    assert str(seen.error).endswith(
        "who are you (HTTP 401); the credentials are not accepted: renew them"
    )
    assert (seen.resources, seen.hooks) == ([], HOOKS)


# What is told.


def test_notices_are_logged_the_loud_ones_first(api: Api, run: Run) -> None:
    fill_cluster(api, [ingress("blocks", A, block_access="true"), ingress("odd", "", B)])

    seen = run({"pic:domains": "example.com"}, PIC_LOG_LEVEL="debug")

    assert seen.log == [
        ("WARNING", seen.log[0][1]),
        ("INFO", seen.log[1][1]),
    ]
    assert [text.partition(": ")[0] for _, text in seen.log] == ["EmptyHost", "BlockAccess"]


def test_more_notices_than_anybody_reads_are_counted(api: Api, run: Run) -> None:
    fill_cluster(api, [ingress(f"odd-{at:02}", "") for at in range(program.SHOWN_NOTICES + 3)])

    log = run().log

    assert len(log) == program.SHOWN_NOTICES + 1
    assert log[-1] == ("WARNING", "and 3 more notices: see pic plan")
