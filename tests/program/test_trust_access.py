"""A plain `pulumi up`, whose environment is not that of pic, refuses another cluster."""

from collections.abc import Mapping
from pathlib import Path

import pulumi
import pytest
import yaml

from pic.cluster import listing
from pic.core.errors import ClusterError
from pic.engine import program
from pic.engine.hooks import Hooks
from pic.run import situation as situations
from pic.run import stack_config
from pic.settings.parse import Settings
from tests.support import engine
from tests.support.api import CLUSTER, Api, fill_cluster, ingress, kubeconfig
from tests.support.engine import ProgramRun

HOST = "app.example.com"
BOUND = {"pic:clusterId": CLUSTER}
POD = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


@pytest.fixture
def account(tmp_path: Path) -> Path:
    """Provide the folder of a service account."""
    (tmp_path / "account").mkdir()
    (tmp_path / "account" / "token").write_text("of-the-pod")
    return tmp_path / "account"


def run(environment: Mapping[str, str], account: Path, **config: str) -> ProgramRun:
    values = {**BOUND, **{f"pic:{key}": value for key, value in config.items()}}
    return engine.run(lambda: program.run(environment, service_account=account), values)


def write_home(api: Api, folder: Path) -> Path:
    path = folder / ".kube" / "config"
    path.parent.mkdir()
    api.kubeconfig(path)
    return path


def test_13_a_pod_with_a_kubeconfig_in_its_home_directory_is_refused(
    api: Api, tmp_path: Path, account: Path
) -> None:
    path = write_home(api, tmp_path)

    refused = run({**POD, "HOME": str(tmp_path)}, account)

    assert isinstance(refused.error, pulumi.RunError)
    assert str(refused.error) == (
        f"this pod has a service account and {path}, which may lead to different clusters: run with"
        f" KUBECONFIG={path}, remove that file, or use pic up"
    )
    assert (refused.resources, api.requests) == ([], [])


def test_13_a_pod_that_names_its_kubeconfig_or_context_is_not_refused(
    api: Api, tmp_path: Path, account: Path
) -> None:
    path = write_home(api, tmp_path)
    environment = {**POD, "HOME": str(tmp_path)}

    named = run({**environment, "KUBECONFIG": str(path)}, account)
    selected = run(environment, account, context="here")
    without_account = run(environment, tmp_path)

    assert [named.error, selected.error, without_account.error] == [None, None, None]


def test_13_a_setting_with_a_tilde_is_not_the_same_as_the_variable(
    tmp_path: Path, account: Path
) -> None:
    refused = run({"KUBECONFIG": "~/config", "HOME": str(tmp_path)}, account, kubeconfig="~/config")

    assert str(refused.error) == (
        "the engine's Kubernetes plugin does not know pic:kubeconfig: run with"
        " KUBECONFIG=~/config, or use pic up"
    )


@pytest.mark.parametrize(("calls", "names"), [(1, ["cluster"]), (2, ["cluster", HOST])])
def test_12_a_run_whose_kubeconfig_is_switched_fails_so_that_nothing_is_deleted(
    api: Api, tmp_path: Path, calls: int, names: list[str]
) -> None:
    fill_cluster(api, [ingress("web", HOST)])
    environment = {"KUBECONFIG": api.kubeconfig(tmp_path / "config")}
    pending = [None] * calls

    def check() -> None:
        pending.pop()
        if not pending:
            raise ClusterError("another cluster")

    def body() -> None:
        values = {"clusterId": CLUSTER, "tunnelNamespaces": "."}
        config = stack_config.deployable(values, "prod", environment)
        transport = listing.connect(config.settings, environment)
        situation = situations.read_and_plan(config, transport, environment)
        hooks = Hooks()
        program.bind(situation, hooks)
        program.declare(situation, hooks, program.Checks(check))

    registered = engine.run(body)

    assert (str(registered.error), registered.names) == ("another cluster", names)


def test_12_a_kubeconfig_that_leads_elsewhere_than_before_is_an_error(
    api: Api, tmp_path: Path
) -> None:
    path = tmp_path / "config"
    environment = {"KUBECONFIG": api.kubeconfig(path)}
    before = listing.resolve(Settings(), environment)
    before.check_unchanged(listing.resolve(Settings(), environment))
    path.write_text(yaml.safe_dump(kubeconfig("http://other.example.com")))

    with pytest.raises(ClusterError) as raised:
        before.check_unchanged(listing.resolve(Settings(), environment))

    assert str(raised.value) == (
        f"the kubeconfig led to {api.server} when this run began, and now leads to"
        " http://other.example.com: this run stops and deletes nothing. Set pic:context, or use"
        " pic up, which keeps to one cluster"
    )
