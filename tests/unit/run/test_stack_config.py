"""Where settings and snapshots come from."""

import io
from pathlib import Path

import pytest
import yaml

from pic.cluster.listing import NETWORKING
from pic.core.errors import ManifestError, SettingsError
from pic.core.model import Ingress, Snapshot
from pic.core.names import derived_uid
from pic.core.notices import Reason
from pic.planning.ownership import Ownership
from pic.run import reading, stack_config
from pic.run.stack_config import StackConfig
from pic.settings.parse import ResourceSchema, Settings
from pic.settings.stack_file import StackFile
from pic.snapshot import assemble, pangolin
from pic.snapshot.assemble import RawSnapshot
from pic.snapshot.branch import (
    Branch,
    Proposal,
    check_stdin,
    offline_snapshot,
    propose,
)
from tests.support.api import (
    CLUSTER,
    fill_cluster,
    ingress,
    serving,
)


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


def manifest(tmp_path: Path, *objects: dict[str, object]) -> str:
    path = tmp_path / "web.yaml"
    path.write_text(yaml.safe_dump_all(objects))
    return str(path)


def web(name: str = "web", namespace: str = "prod") -> dict[str, object]:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {"name": name, "namespace": namespace, "uid": "uid"},
    }


@pytest.mark.parametrize(
    ("setting", "schema"),
    [
        (ResourceSchema.AUTO, pangolin.SCHEMA_TARGETS),
        (ResourceSchema.TARGETS, pangolin.SCHEMA_TARGETS),
        (ResourceSchema.TARGET, pangolin.SCHEMA_TARGET),
    ],
)
def test_files_alone_make_a_snapshot_of_the_schema_that_is_set(
    tmp_path: Path, setting: ResourceSchema, schema: object
) -> None:
    snapshot = offline_snapshot([manifest(tmp_path, web())], Settings(resource_schema=setting))

    assert snapshot == Snapshot(ingresses=(Ingress("prod", "web", "uid"),), schema=schema)  # type: ignore[arg-type]


def test_files_of_namespaces_that_a_live_run_does_not_watch_do_not_exist(tmp_path: Path) -> None:
    elsewhere = web("web", namespace="dev")
    settings = Settings(namespaces=("prod",))

    snapshot = offline_snapshot([manifest(tmp_path, web(), elsewhere)], settings)

    assert [ingress.key for ingress in snapshot.ingresses] == [("prod", "web")]


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    text = yaml.safe_dump(web()).encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))

    snapshot = offline_snapshot(["-"], Settings())

    assert [each.key for each in snapshot.ingresses] == [("prod", "web")]


def test_a_path_that_is_not_there_is_told() -> None:
    with pytest.raises(ManifestError, match=r"^/nowhere: cannot be read: No such file"):
        offline_snapshot(["/nowhere"], Settings())


def test_a_live_snapshot_is_the_cluster_with_files_laid_over_it(tmp_path: Path) -> None:
    with serving() as api:
        fill_cluster(api, [ingress("web", "a.org"), ingress("other", "b.org")])
        environment = {"KUBECONFIG": api.kubeconfig(tmp_path / "config")}
        new = manifest(tmp_path, web(), web("new"))

        bare = reading.live_snapshot(Settings(), environment)
        laid = reading.live_snapshot(Settings(), environment, [new])

    assert bare.cluster_id == laid.cluster_id == CLUSTER
    assert [each.name for each in bare.ingresses] == ["web", "other"]
    assert [(each.name, each.uid, len(each.rules)) for each in laid.ingresses] == [
        ("web", "uid-prod-web", 0),
        ("other", "uid-prod-other", 1),
        ("new", derived_uid("Ingress", "prod", "new"), 0),
    ]
    assert [each.path.partition("?")[0] for each in api.requests].count(
        f"{NETWORKING}/ingresses"
    ) == 2


def test_standard_input_is_read_once() -> None:
    check_stdin(["-", "a"], ["b"], [""])

    with pytest.raises(SettingsError, match=r"^- is standard input, which can be read only once$"):
        check_stdin(["a"], ["-"], ["-"])


def test_a_base_needs_files_to_compare_it_with() -> None:
    with pytest.raises(SettingsError) as caught:
        propose(RawSnapshot(), Branch(base=["x"]), Settings())

    assert str(caught.value) == (
        "--base needs --manifests, the same files of the branch, whether or not they are still"
        " there"
    )


def test_without_a_branch_there_is_nothing_to_compare_notices_with() -> None:
    assert propose(RawSnapshot(), Branch(), Settings()) == Proposal(RawSnapshot())


def names(seen: RawSnapshot) -> list[str]:
    return [each.name for each in assemble.snapshot(seen).ingresses]


def files(folder: Path, *names: str) -> str:
    folder.mkdir()
    return manifest(folder, *(web(name) for name in names))


def test_what_only_the_base_holds_is_deleted_by_the_branch(tmp_path: Path) -> None:
    seen = RawSnapshot({"Ingress": [web("kept"), web("gone"), web("of-others")]})
    new, old = files(tmp_path / "new", "kept", "added"), files(tmp_path / "old", "kept", "gone")

    found = propose(seen, Branch([new], base=[old]), Settings())

    assert names(found.after) == ["kept", "of-others", "added"]
    assert [names(each) for each in found.before] == [names(seen), names(seen)]


def test_without_the_branch_there_is_also_what_the_target_branch_adds(tmp_path: Path) -> None:
    seen = RawSnapshot({"Ingress": [web("live")]})
    new, old = files(tmp_path / "new", "a"), files(tmp_path / "old", "merged")

    found = propose(seen, Branch([new], base=[old]), Settings())

    assert names(found.after) == ["live", "a"]
    assert [names(each) for each in found.before] == [["live"], ["live", "merged"]]


def test_beside_a_base_files_that_are_not_there_any_more_are_deleted(tmp_path: Path) -> None:
    seen = RawSnapshot({"Ingress": [web("gone"), web("of-others")]})
    old, missing = files(tmp_path / "old", "gone"), str(tmp_path / "new")

    found = propose(seen, Branch([missing], base=[old]), Settings())

    assert names(found.after) == ["of-others"]
    with pytest.raises(ManifestError, match="No such file"):
        propose(seen, Branch([missing]), Settings())
    with pytest.raises(ManifestError, match="No such file"):
        propose(seen, Branch([old], base=[missing]), Settings())


def test_what_is_removed_goes_unless_the_branch_has_it_elsewhere(tmp_path: Path) -> None:
    seen = RawSnapshot({"Ingress": [web("gone"), web("renamed-file"), web("of-others")]})
    new = files(tmp_path / "new", "renamed-file")
    removed = files(tmp_path / "removed", "gone", "renamed-file")

    found = propose(seen, Branch([new], removed=[removed]), Settings())
    alone = propose(seen, Branch(removed=[removed]), Settings())

    assert names(found.after) == ["renamed-file", "of-others"]
    assert names(alone.after) == ["of-others"]
    assert [names(each) for each in alone.before] == [names(seen)]


def test_files_outside_the_namespaces_of_the_stack_do_not_count(tmp_path: Path) -> None:
    tunnel: dict[str, object] = {
        "apiVersion": "tunnel.pangolin.io/v1alpha1",
        "kind": "PangolinTunnel",
        "metadata": {"name": "x", "namespace": "prod"},
    }
    seen = RawSnapshot({"Ingress": [], "PangolinTunnel": []})
    branch = Branch([manifest(tmp_path, web(), tunnel)])

    def found(**settings: object) -> tuple[int, int]:
        made = Settings(**settings)  # type: ignore[arg-type]
        after = assemble.snapshot(propose(seen, branch, made).after)
        return len(after.ingresses), len(after.tunnels or ())

    assert found() == (1, 1)
    assert found(namespaces=("prod",), tunnel_namespace="prod") == (1, 1)
    assert found(namespaces=("team",)) == (0, 1)
    assert found(tunnel_namespace="net") == (1, 0)


def test_an_earlier_stack_is_known_by_its_label(tmp_path: Path) -> None:
    StackFile(tmp_path, "prod").merge({"adoptFrom": "old"})

    assert stack_config.load(tmp_path, "prod", [], {}).ownership == Ownership(
        "pic.prod", earlier="pic.old"
    )
