"""Tests where the settings of a run come from."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from pic.core.errors import SettingsError
from pic.core.notices import Reason
from pic.planning.ownership import Ownership
from pic.run import stack_config
from pic.run.stack_config import StackConfig
from pic.settings.parse import Settings
from pic.settings.stack_file import EXAMPLE, FOLDER, StackFile
from tests.support.api import CLUSTER, REMEMBERING
from tests.support.pihole_cluster import PASSWORD, TARGET_IP, pihole_settings


def test_the_label_of_a_stack_is_legal_however_long_its_name_is() -> None:
    assert stack_config.stack_label("prod") == "pic.prod"
    assert len(stack_config.stack_label("x" * 100)) == 63


def test_the_error_for_a_missing_stack_file_names_pic_init(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        stack_config.only_stack(tmp_path)

    assert str(caught.value) == "there is no stack file yet: pic init --stack NAME writes one"


def test_the_only_stack_is_used(tmp_path: Path) -> None:
    StackFile(tmp_path, "prod").merge({"maxRemovals": 3})

    assert stack_config.only_stack(tmp_path) == "prod"


def test_the_example_does_not_hide_the_only_stack(tmp_path: Path) -> None:
    StackFile(tmp_path, "prod").merge({"maxRemovals": 3})
    (tmp_path / FOLDER / f"Pulumi.{EXAMPLE}.yaml").touch()

    assert stack_config.only_stack(tmp_path) == "prod"


def test_the_settings_of_a_stack_are_loaded_from_its_file(tmp_path: Path) -> None:
    StackFile(tmp_path, "prod").merge({"maxRemovals": 3})

    config = stack_config.load(tmp_path, "prod", [], {})

    assert config == StackConfig(Settings(max_removals=3), "pic.prod", Ownership("pic.prod"), ())


def test_one_of_several_stacks_must_be_named(tmp_path: Path) -> None:
    StackFile(tmp_path, "prod").merge({"adopt": True})
    StackFile(tmp_path, "dev").merge({"adopt": False})

    with pytest.raises(SettingsError, match=r"^name the stack with --stack: dev, prod$"):
        stack_config.only_stack(tmp_path)
    loaded = stack_config.load(tmp_path, "prod", [], {})
    assert loaded.ownership == Ownership("pic.prod", adopt=True)


def test_flags_override_the_stack_file_and_the_stack_file_the_environment(tmp_path: Path) -> None:
    StackFile(tmp_path, "prod").merge({"maxRemovals": 3, "backendScheme": "https"})

    config = stack_config.load(
        tmp_path,
        "prod",
        ["maxRemovals=4", "clusterDomain=b.org"],
        {"PIC_BACKEND_SCHEME": "http", "PIC_DEFAULT_TUNNEL_NAME": "home"},
    )

    assert config.settings == Settings(
        max_removals=4, cluster_domain="b.org", backend_scheme="https", default_tunnel="home"
    )
    assert [remark.reason for remark in config.remarks] == [Reason.SETTING_DIFFERS]


def test_every_flag_of_another_form_is_in_the_error() -> None:
    with pytest.raises(SettingsError) as caught:
        stack_config.overrides(["a=b", "adopt", "=x", "c=d=e"])

    assert str(caught.value) == "--config 'adopt' is not KEY=VALUE\n--config '=x' is not KEY=VALUE"
    assert stack_config.overrides(["a=b", "c=d=e", "f="]) == {"a": "b", "c": "d=e", "f": ""}


def test_without_a_stack_the_objects_of_every_stack_are_ours(tmp_path: Path) -> None:
    config = stack_config.load(tmp_path, None, ["adopt=true"], {})

    assert config == StackConfig(Settings(adopt=True), "pic.offline", Ownership("", adopt=True), ())


def test_a_deployment_has_its_stack_label_and_the_earlier_stack() -> None:
    values = {"clusterId": "cluster-1", "adopt": "true", "adoptFrom": "old"}

    config = stack_config.deployable(values, "prod", {"PIC_BACKEND_SCHEME": "https"})

    assert config == StackConfig(
        Settings(cluster_id="cluster-1", adopt=True, adopt_from="old", backend_scheme="https"),
        "pic.prod",
        Ownership("pic.prod", adopt=True, earlier="pic.old"),
        (),
    )


@pytest.mark.parametrize(
    ("values", "problems"),
    [
        (
            {"targets": "pangolin,pihole", "piholeUrl": "http://pi.hole"},
            (
                "pic:clusterId is not set, so a wrong kubeconfig could take everything down: run"
                " pic init --stack prod",
                "no route to pangolin",
                "pic:targets has pihole, and pic:piholeTargetIp is not set: set it, or"
                " DEFAULT_TARGET_IP, to the IPv4 address for records whose Ingress names none",
                "pic:targets has pihole, and the password of Pi-hole is not set: set"
                " PIHOLE_PASSWORD or PIHOLE_API_TOKEN in the environment; an app password needs"
                " webserver.api.app_sudo",
            ),
        ),
        (
            {"maxRemovals": "many", "clusterId": ""},
            (
                "pic:maxRemovals is 'many'; allowed: a whole number from 0 to 999999999",
                "pic:clusterId is not set, so a wrong kubeconfig could take everything down: run"
                " pic init --stack prod",
            ),
        ),
        ({"clusterId": "cluster-1"}, ("no route to pangolin",)),
    ],
)
def test_all_problems_of_a_deployment_are_reported_at_once(
    values: dict[str, object], problems: tuple[str, ...]
) -> None:
    with pytest.raises(SettingsError) as caught:
        stack_config.deployable(
            values, "prod", {}, lambda settings: [f"no route to {settings.targets[0]}"]
        )

    assert caught.value.problems == problems


def test_an_earlier_stack_is_recognised_by_its_label(tmp_path: Path) -> None:
    StackFile(tmp_path, "prod").merge({"adoptFrom": "old"})

    assert stack_config.load(tmp_path, "prod", [], {}).ownership == Ownership(
        "pic.prod", earlier="pic.old"
    )


def problems_of(values: Mapping[str, object], variables: Mapping[str, str]) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        stack_config.deployable({"clusterId": CLUSTER, **values}, "prod", variables)
    return caught.value.problems


def test_a_deployment_to_pihole_needs_a_url_an_address_and_a_password() -> None:
    assert problems_of({"targets": "pangolin,pihole"}, {"PIHOLE_PASSWORD": ""}) == (
        "pic:targets has pihole, and pic:piholeUrl is not set: set it, or PIHOLE_URL",
        "pic:targets has pihole, and pic:piholeTargetIp is not set: set it, or DEFAULT_TARGET_IP,"
        " to the IPv4 address for records whose Ingress names none",
        "pic:targets has pihole, and the password of Pi-hole is not set: set PIHOLE_PASSWORD or"
        " PIHOLE_API_TOKEN in the environment; an app password needs webserver.api.app_sudo",
    )


@pytest.mark.parametrize("variable", ["PIHOLE_PASSWORD", "PIHOLE_API_TOKEN"])
def test_either_variable_has_the_password(variable: str) -> None:
    values = {"clusterId": CLUSTER, "targets": "pihole", "piholeUrl": "http://pi.hole"}
    values |= REMEMBERING

    variables = {variable: PASSWORD, "DEFAULT_TARGET_IP": TARGET_IP}

    config = stack_config.deployable(values, "prod", variables)

    expected = pihole_settings("http://pi.hole", tunnel_namespaces=(".",))
    assert config.settings == expected
