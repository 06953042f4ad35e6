"""The cluster of a run: found once, in the order of client-go, and then kept."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from pic.cluster import listing
from pic.cluster.access import ClusterAccess
from pic.cluster.pinned import Pinned
from pic.core.errors import ClusterError
from pic.settings.parse import Settings
from tests.support.api import SHORT_TIMEOUTS, Answer, kubeconfig, serving
from tests.support.planted import TOKEN

HOME, OTHER = "http://home.example.com", "http://other.example.com"
POD = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


@pytest.fixture
def account(tmp_path: Path) -> Path:
    """Provide the files of a service account."""
    folder = tmp_path / "account"
    folder.mkdir()
    (folder / "token").write_text("of-the-pod")
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Provide a home directory with a kubeconfig."""
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube" / "config").write_text(yaml.safe_dump(kubeconfig(HOME)))
    return tmp_path


def resolve(
    environment: Mapping[str, str], account: Path, settings: Settings | None = None
) -> ClusterAccess:
    return listing.resolve(settings or Settings(), environment, service_account=account)


def test_13_in_a_pod_the_kubeconfig_in_the_home_directory_comes_first(
    home: Path, account: Path
) -> None:
    assert resolve({**POD, "HOME": str(home)}, account).pinned.server == HOME


def test_13_kubeconfig_comes_before_the_home_directory(home: Path, account: Path) -> None:
    file = home / "other"
    file.write_text(yaml.safe_dump(kubeconfig(OTHER)))
    environment = {**POD, "HOME": str(home), "KUBECONFIG": f":{file}"}

    assert resolve(environment, account).pinned.server == OTHER


@pytest.mark.parametrize("variables", [{}, {"KUBECONFIG": "/none"}, {"HOME": "/none"}])
def test_13_without_a_kubeconfig_the_service_account_is_used(
    account: Path, variables: dict[str, str]
) -> None:
    assert resolve({**POD, **variables}, account).pinned == Pinned(
        "in-cluster",
        {
            "server": "https://10.0.0.1:443",
            "certificate-authority": str(account / "ca.crt"),
        },
        {"tokenFile": str(account / "token")},
    )


def test_13_the_setting_never_falls_back_to_the_service_account(account: Path) -> None:
    with pytest.raises(ClusterError, match=r": there is no kubeconfig at /none\. Set "):
        resolve(POD, account, Settings(kubeconfig="/none"))


def test_13_without_a_token_there_is_no_service_account(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text("kind: Config\n")

    with pytest.raises(ClusterError, match=rf": there is no current context in {file}\. Set "):
        resolve({**POD, "KUBECONFIG": str(file)}, tmp_path / "none")


def test_12_another_cluster_of_the_same_name_gets_no_credentials_of_this_one(
    tmp_path: Path,
) -> None:
    file = tmp_path / "config"
    with serving() as api:
        file.write_text(yaml.safe_dump(kubeconfig(api.server)))
        access = listing.resolve(Settings(), {"KUBECONFIG": str(file)})
        transport = listing.connect_to(access, SHORT_TIMEOUTS)
        file.write_text(yaml.safe_dump(with_token(kubeconfig(OTHER), "of-the-other")))
        api.refuse("/x", 401, "who are you")

        with pytest.raises(listing.StatusError, match=r"^who are you$"):
            transport.get("/x")

        assert [request.headers["Authorization"] for request in api.requests] == [f"Bearer {TOKEN}"]


def test_12_renewed_credentials_are_those_of_the_same_context(tmp_path: Path) -> None:
    file = tmp_path / "config"
    with serving() as api:
        file.write_text(yaml.safe_dump(kubeconfig(api.server)))
        access = listing.resolve(Settings(), {"KUBECONFIG": str(file)})
        transport = listing.connect_to(access, SHORT_TIMEOUTS)
        switched = with_token(kubeconfig(api.server, "there", "here"), "renewed")
        file.write_text(yaml.safe_dump(switched))
        api.set_answers("/x", Answer({}, 401), Answer([1]))

        assert transport.get("/x") == [1]
        assert api.requests[1].headers["Authorization"] == "Bearer renewed"


def with_token(config: dict[str, Any], token: str) -> dict[str, Any]:
    return {**config, "users": [{"name": "u", "user": {"token": token}}]}


def test_12_a_context_that_is_gone_has_no_new_credentials(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(yaml.safe_dump(kubeconfig(OTHER)))
    access = listing.resolve(Settings(), {"KUBECONFIG": str(file)})
    file.unlink()

    with pytest.raises(ClusterError, match="there is no context 'here'"):
        access.renewed()


def test_a_rotated_token_of_a_service_account_is_read_again(account: Path) -> None:
    (account / "ca.crt").write_text("authority")
    access = resolve(POD, account)
    (account / "token").write_text("rotated\n")

    assert access.renewed().authorization == "Bearer rotated"


def test_14_a_token_of_a_service_account_that_is_not_text_is_not_quoted(account: Path) -> None:
    (account / "ca.crt").write_text("authority")
    (account / "token").write_bytes(b"\xff")

    with pytest.raises(ClusterError, match=rf": {account / 'token'} is not text\. Set "):
        resolve(POD, account).first()
