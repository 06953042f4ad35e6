"""The real engine writes to the cluster that the guard has read, and to no other."""

import base64
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from pic.cluster import listing
from pic.settings.parse import Settings
from tests.engine.stage import PicRun, Stage
from tests.support.deployed import write_executable
from tests.support.planted import TOKEN

NOWHERE = "https://127.0.0.1:1"
EXEC = "client.authentication.k8s.io/v1"
HERE, THERE = "here", "there"
# Switches the current context as soon as the engine starts, and then becomes the engine.
SWITCHING = """#!/bin/sh
case " $* " in *" up "*|*" refresh "*|*" destroy "*|*" preview "*) cp {switched} {config} ;; esac
exec {pulumi} "$@"
"""


@dataclass(frozen=True)
class Access:
    """A kubeconfig with the real cluster and one that does not answer.

    Attributes:
        config: The kubeconfig that runs get.
        temporary: The folder of temporary files of the runs.
    """

    stage: Stage
    config: Path
    temporary: Path
    path: str

    def content(self, current: str = HERE) -> dict[str, Any]:
        real = yaml.safe_load(self.stage.plane.kubeconfig.read_text())
        cluster, user = real["clusters"][0]["cluster"], real["users"][0]["user"]
        contexts = [(HERE, cluster), (THERE, {"server": NOWHERE})]
        return {
            "current-context": current,
            "contexts": [
                {"name": name, "context": {"cluster": name, "user": "u"}} for name, _ in contexts
            ],
            "clusters": [{"name": name, "cluster": value} for name, value in contexts],
            "users": [{"name": "u", "user": user}],
        }

    def write(self, content: object, path: Path | None = None) -> None:
        (path or self.config).write_text(yaml.safe_dump(content))

    def pic(self, *words: str, **env: str) -> PicRun:
        variables = {
            "KUBECONFIG": str(self.config),
            "PATH": self.path,
            "TMPDIR": str(self.temporary),
            **env,
        }
        run = self.stage.pic(*words, **variables)
        assert list(self.temporary.glob("pic-kubeconfig-*")) == [], "the private file has gone"
        return run

    def switched(self, *words: str) -> PicRun:
        """Run pic, and switch to the other context once the engine has started."""
        self.write(self.content())
        run = self.pic(*words)
        current = yaml.safe_load(self.config.read_text())["current-context"]
        assert current == THERE, "the context was switched while the engine ran"
        return run


@pytest.fixture
def access(stage: Stage, tmp_path: Path) -> Access:
    folder = tmp_path / "bin"
    folder.mkdir()
    (tmp_path / "tmp").mkdir()
    real = stage.workspace.environment()["PATH"]
    config, switched = tmp_path / "config", tmp_path / "switched"
    pulumi = stage.workspace.tools.pulumi
    wrapper = SWITCHING.format(switched=switched, config=config, pulumi=pulumi)
    write_executable(folder / "pulumi", wrapper)
    access = Access(stage, config, tmp_path / "tmp", f"{folder}:{real}")
    access.write(access.content(THERE), switched)
    return access


def test_12_a_switch_of_the_current_context_leads_no_run_elsewhere(access: Access) -> None:
    stage = access.stage
    stage.ingress("web", "www", "old")
    created = access.switched("up")
    assert (created.code, len(stage.objects())) == (0, 2), created

    stage.ingress("web", "www")
    stage.cluster.patch(
        *("PangolinResource", stage.name, stage.object("www")["metadata"]["name"]),
        {"spec": {"enabled": False}},
    )
    previewed = access.switched("preview")
    refreshed = access.switched("up")

    assert (previewed.code, refreshed.code) == (0, 0), (previewed, refreshed)
    assert [live["spec"].get("enabled", True) for live in stage.objects()] == [True]
    refused = access.pic("destroy", "--log-format", "json", KUBECONFIG=str(stage.plane.kubeconfig))
    digest = json.loads(refused.err.splitlines()[-1])["digest"]
    destroyed = access.switched("destroy", "--acknowledge", digest)
    assert (destroyed.code, stage.objects()) == (0, []), destroyed


def test_12_a_context_in_the_state_leads_nowhere_else(access: Access) -> None:
    stage = access.stage
    stage.ingress("web", "www")
    access.write(access.content())
    stage.settings(context=HERE)
    assert access.pic("up").code == 0
    before = stage.object("www")["metadata"]["uid"]

    # The context that the state names now leads to another cluster.
    renamed = access.content("renamed")
    renamed["contexts"][0]["name"], renamed["contexts"][1]["name"] = "renamed", HERE
    access.write(renamed)
    stage.settings(context="renamed")
    stage.cluster.patch(
        *("PangolinResource", stage.name, stage.object("www")["metadata"]["name"]),
        {"spec": {"enabled": False}},
    )
    repaired = access.pic("up")

    assert repaired.code == 0, repaired
    live = stage.object("www")
    assert (live["metadata"]["uid"], live["spec"].get("enabled", True)) == (before, True)


def test_12_a_stack_of_a_plain_pulumi_up_is_unchanged_under_pic(access: Access) -> None:
    stage = access.stage
    stage.ingress("web", "www")
    access.write(access.content(THERE))
    stage.settings(context=HERE)
    created = stage.up(KUBECONFIG=str(access.config))
    assert created.code == 0, created
    before = stage.identities()
    stage.ingress("web", "www", "new")

    answer = access.pic("up", "--report", "report.json")

    report = json.loads((stage.workspace.path / "report.json").read_text())
    assert (answer.code, report["changed"]) == (0, {"create": 1}), answer
    assert {host: stage.identities()[host] for host in before} == before


def test_12_an_exec_plugin_gives_the_engine_its_token(access: Access, tmp_path: Path) -> None:
    stage, content = access.stage, access.content()
    token = content["users"][0]["user"]["token"]
    credential = {"apiVersion": EXEC, "kind": "ExecCredential", "status": {"token": token}}
    # The plugin finds the kubeconfig of the user, and its command is relative to that file.
    script = f"""#!/bin/sh
[ "$KUBECONFIG" = {access.config} ] && echo '{json.dumps(credential)}'
"""
    write_executable(tmp_path / "login", script)
    plugin = {"apiVersion": EXEC, "command": "./login", "interactiveMode": "Never"}
    content["users"][0]["user"] = {"exec": plugin}
    access.write(content)
    stage.ingress("web", "www")

    answer = access.pic("up")

    assert (answer.code, len(stage.objects())) == (0, 1), answer


def test_13_in_a_pod_guard_and_engine_use_the_kubeconfig_in_the_home_directory(
    access: Access, tmp_path: Path
) -> None:
    stage = access.stage
    (tmp_path / ".kube").mkdir()
    shutil.copy(stage.plane.kubeconfig, tmp_path / ".kube" / "config")
    stage.ingress("web", "www")
    pod = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": "1"}

    answer = access.pic("up", KUBECONFIG="", HOME=str(tmp_path), **pod)

    assert (answer.code, len(stage.objects())) == (0, 1), answer


def test_13_the_engine_reads_the_files_of_a_service_account(access: Access, tmp_path: Path) -> None:
    stage, content = access.stage, access.content()
    cluster = content["clusters"][0]["cluster"]
    authority = base64.b64decode(cluster["certificate-authority-data"])
    (tmp_path / "ca.crt").write_bytes(authority)
    (tmp_path / "token").write_text(content["users"][0]["user"]["token"])
    server = urlsplit(stage.plane.server)
    pod = {
        "KUBERNETES_SERVICE_HOST": str(server.hostname),
        "KUBERNETES_SERVICE_PORT": str(server.port),
        "HOME": str(tmp_path),
    }
    pinned = listing.resolve(Settings(), pod, service_account=tmp_path).pinned
    access.config.write_text(pinned.as_text())
    stage.ingress("web", "www")

    answer = access.pic("up")

    assert (answer.code, len(stage.objects())) == (0, 1), answer


def test_14_a_kubeconfig_that_does_not_parse_is_not_quoted(access: Access) -> None:
    access.config.write_text(f"users:\n- name: u\n  user: {{token: {TOKEN}: x}}\n")
    problem = (
        f"cannot connect to the cluster: {access.config} is no kubeconfig: line 3, column 26:"
        " expected ',' or '}', but got ':'. Set KUBECONFIG, or pic:context to one of its contexts"
    )

    plain = access.stage.up(KUBECONFIG=str(access.config))
    answer = access.pic("up")

    assert (plain.code, plain.complaints) == (1, (problem,))
    assert answer == PicRun(5, "", f"pic: {problem}\n")
