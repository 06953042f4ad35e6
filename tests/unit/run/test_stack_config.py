"""Where the settings of a run come from."""

from pathlib import Path

import pytest

from pic.core.errors import SettingsError
from pic.core.notices import Reason
from pic.planning.ownership import Ownership
from pic.run import stack_config
from pic.run.stack_config import StackConfig
from pic.settings.parse import Settings
from pic.settings.stack_file import EXAMPLE, FOLDER, StackFile


def test_the_label_of_a_stack_is_legal_however_long_its_name() -> None:
    assert stack_config.stack_label("prod") == "pic.prod"
    assert len(stack_config.stack_label("x" * 100)) == 63


@pytest.mark.usefixtures("root")
def test_without_a_stack_file_init_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        stack_config.only_stack(tmp_path)

    assert str(caught.value) == "there is no stack file yet: pic init --stack NAME writes one"


def test_the_only_stack_is_taken(tmp_path: Path) -> None:
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


def test_of_several_stacks_one_must_be_named(tmp_path: Path) -> None:
    StackFile(tmp_path, "prod").merge({"adopt": True})
    StackFile(tmp_path, "dev").merge({"adopt": False})

    with pytest.raises(SettingsError, match=r"^name the stack with --stack: dev, prod$"):
        stack_config.only_stack(tmp_path)
    loaded = stack_config.load(tmp_path, "prod", [], {})
    assert loaded.ownership == Ownership("pic.prod", adopt=True)


def test_flags_go_before_the_stack_and_the_environment_comes_last(tmp_path: Path) -> None:
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


def test_every_flag_of_another_form_is_named() -> None:
    with pytest.raises(SettingsError) as caught:
        stack_config.overrides(["a=b", "adopt", "=x", "c=d=e"])

    assert str(caught.value) == "--config 'adopt' is not KEY=VALUE\n--config '=x' is not KEY=VALUE"
    assert stack_config.overrides(["a=b", "c=d=e", "f="]) == {"a": "b", "c": "d=e", "f": ""}


def test_without_a_stack_the_objects_of_every_stack_are_ours(tmp_path: Path) -> None:
    config = stack_config.load(tmp_path, None, ["adopt=true"], {})

    assert config == StackConfig(Settings(adopt=True), "pic.offline", Ownership("", adopt=True), ())


def test_a_deployment_knows_its_stack_and_what_it_takes_over() -> None:
    raw = {"clusterId": "cluster-1", "adopt": "true", "adoptFrom": "old"}

    config = stack_config.deployable(raw, "prod", {"PIC_BACKEND_SCHEME": "https"})

    assert config == StackConfig(
        Settings(cluster_id="cluster-1", adopt=True, adopt_from="old", backend_scheme="https"),
        "pic.prod",
        Ownership("pic.prod", adopt=True, earlier="pic.old"),
        (),
    )


@pytest.mark.parametrize(
    ("raw", "problems"),
    [
        (
            {"targets": "pangolin,pihole", "piholeUrl": "http://pi.hole"},
            (
                "pic:clusterId is not set, so a wrong kubeconfig could take everything down: run"
                " pic init --stack prod",
                "no way to pangolin",
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
        ({"clusterId": "cluster-1"}, ("no way to pangolin",)),
    ],
)
def test_everything_that_stands_in_the_way_of_a_deployment_is_told_at_once(
    raw: dict[str, object], problems: tuple[str, ...]
) -> None:
    with pytest.raises(SettingsError) as caught:
        stack_config.deployable(
            raw, "prod", {}, lambda settings: [f"no way to {settings.targets[0]}"]
        )

    assert caught.value.problems == problems


def test_an_earlier_stack_is_known_by_its_label(tmp_path: Path) -> None:
    StackFile(tmp_path, "prod").merge({"adoptFrom": "old"})

    assert stack_config.load(tmp_path, "prod", [], {}).ownership == Ownership(
        "pic.prod", earlier="pic.old"
    )
