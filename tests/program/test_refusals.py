"""Tests when the program declares nothing, and what it logs."""

from pathlib import Path

import pulumi
import pytest

from pic.cluster.listing import CRD, IDENTITY, NETWORKING
from pic.engine import program
from tests.support import engine
from tests.support.api import CLUSTER, Api, fill_cluster, ingress, live_object
from tests.support.engine import HOOKS
from tests.support.programs import BOUND, RunProgram, StateEngine

A, B = "a.example.com", "b.example.com"


# The guard.


EMPTY = f"The only live host would be removed: {A}."


def test_a_refused_run_registers_nothing(api: Api, run: RunProgram) -> None:
    fill_cluster(api, [], live_object(A))

    registered = run()

    assert isinstance(registered.error, pulumi.RunError)
    assert str(registered.error).splitlines()[0] == EMPTY
    assert (registered.resources, registered.outputs, registered.hooks) == ([], {}, HOOKS)


def test_a_preview_of_a_refused_run_declares_everything_and_warns(
    api: Api, run: RunProgram, state_engine: StateEngine
) -> None:
    hosts = [f"h{number}.example.com" for number in range(6)]
    fill_cluster(api, [ingress("other", A)], *(live_object(host) for host in hosts))
    state_engine.keys = [("prod", f"pic-{host}") for host in hosts]

    registered = run(preview=True)

    assert registered.names == ["cluster", A]
    [(level, text)] = registered.log
    assert level == "WARNING"
    assert text.splitlines()[:2] == [
        "`pulumi up` would refuse this:",
        f"All 6 live hosts would be removed: {', '.join(hosts)}.",
    ]
    assert registered.error is None


def test_what_is_held_is_the_last_warning_and_the_rest_is_declared(
    api: Api, run: RunProgram
) -> None:
    protected = live_object(A)
    protected["spec"]["httpConfig"]["sso"] = True
    fill_cluster(api, [ingress("web", A, B)], protected)

    registered = run()

    assert (registered.error, registered.names) == (None, ["cluster", A, B])
    first, last = registered.log
    assert first[1].startswith(f"Held: Ingress prod/web: {A} keeps its login")
    assert last[0] == "WARNING"
    assert "PIC_ACKNOWLEDGE=" in last[1]
    assert last[1].endswith(" pulumi up")


def test_an_acknowledged_run_goes_through(api: Api, run: RunProgram) -> None:
    fill_cluster(api, [], live_object(A))
    digest = str(run().error).rpartition("PIC_ACKNOWLEDGE=")[2].split()[0]

    registered = run(PIC_ACKNOWLEDGE=digest)

    assert (registered.error, registered.names) == (None, ["cluster"])


def test_a_run_against_another_cluster_is_refused(run: RunProgram) -> None:
    registered = run({"pic:clusterId": "22222222-2222-3333-4444-555555555555"})

    assert str(registered.error).startswith(
        f"This is cluster {CLUSTER}, and the stack belongs to 2222"
    )
    assert registered.resources == []


# Wrong settings and unreadable clusters.


@pytest.mark.parametrize("preview", [False, True])
def test_every_wrong_setting_is_reported_in_one_error(run: RunProgram, preview: bool) -> None:  # noqa: FBT001
    registered = run(
        {"pic:clusterId": "", "pic:maxRemovals": "many", "pic:events": "maybe", "pic:tunel": "x"},
        preview=preview,
    )

    assert isinstance(registered.error, pulumi.RunError)
    assert [
        line.partition(",")[0].partition(";")[0] for line in str(registered.error).splitlines()
    ] == [
        "unknown setting pic:tunel",
        "pic:maxRemovals is 'many'",
        "pic:events is 'maybe'",
        "pic:clusterId is not set",
    ]
    assert (registered.resources, registered.hooks) == ([], HOOKS)


def test_every_setting_that_prevents_a_deployment_is_reported_in_one_error(run: RunProgram) -> None:
    registered = run(
        {
            "pic:clusterId": "",
            "pic:kubeconfig": "/elsewhere",
            "pic:targets": "pangolin,pihole",
            "pic:piholeTargetIp": "192.0.2.1",
        }
    )

    assert str(registered.error) == (
        "pic:clusterId is not set, so a wrong kubeconfig could take everything down: run pic init"
        " --stack prod\n"
        "the engine's Kubernetes plugin does not know pic:kubeconfig: run with"
        " KUBECONFIG=/elsewhere, or use pic up\n"
        "pic:targets has pihole, and pic:piholeUrl is not set: set it, or PIHOLE_URL\n"
        "pic:targets has pihole, and the password of Pi-hole is not set: set PIHOLE_PASSWORD or"
        " PIHOLE_API_TOKEN in the environment; an app password needs webserver.api.app_sudo"
    )
    assert registered.resources == []


def test_a_kubeconfig_setting_is_allowed_if_the_environment_has_the_same(
    api: Api, tmp_path: Path
) -> None:
    path = api.kubeconfig(tmp_path / "config")
    config = {**BOUND, "pic:kubeconfig": path}

    registered = engine.run(lambda: program.run({"KUBECONFIG": path}), config)

    assert (registered.error, registered.names) == (None, ["cluster"])


def test_settings_of_other_projects_are_ignored(run: RunProgram) -> None:
    assert run({"aws:region": "eu"}).error is None


@pytest.mark.parametrize("path", [IDENTITY, CRD, f"{NETWORKING}/ingresses"])
@pytest.mark.parametrize("preview", [False, True])
def test_nothing_is_registered_if_part_of_the_cluster_cannot_be_read(
    api: Api,
    run: RunProgram,
    path: str,
    preview: bool,  # noqa: FBT001
) -> None:
    api.refuse(path, 401, "who are you")

    registered = run(preview=preview)

    assert isinstance(registered.error, pulumi.RunError)
    assert str(registered.error).endswith(
        "who are you (HTTP 401); the API server rejects the credentials: renew them"
    )
    assert (registered.resources, registered.hooks) == ([], HOOKS)


# Log messages.


def test_warnings_are_logged_before_remarks(api: Api, run: RunProgram) -> None:
    fill_cluster(api, [ingress("blocks", A, block_access="true"), ingress("odd", "", B)])

    registered = run({"pic:domains": "example.com"}, PIC_LOG_LEVEL="debug")

    assert registered.log == [
        ("WARNING", registered.log[0][1]),
        ("INFO", registered.log[1][1]),
    ]
    assert [text.partition(": ")[0] for _, text in registered.log] == ["EmptyHost", "BlockAccess"]


def test_notices_above_the_limit_are_only_counted(api: Api, run: RunProgram) -> None:
    fill_cluster(
        api, [ingress(f"odd-{number:02}", "") for number in range(program.SHOWN_NOTICES + 3)]
    )

    log = run().log

    assert len(log) == program.SHOWN_NOTICES + 1
    assert log[-1] == ("WARNING", "and 3 more notices: see pic plan")
