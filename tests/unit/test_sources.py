"""Where settings and snapshots come from."""

import io
from pathlib import Path

import pytest
import yaml

from pic import live, sources
from pic.cluster import NETWORKING
from pic.config import ResourceSchema, Settings
from pic.errors import ManifestError, SettingsError
from pic.inventory import Ownership
from pic.model import Ingress, Snapshot
from pic.names import derived_uid
from pic.notices import Reason
from pic.sources import Run
from pic.stackfile import StackFile
from tests.program.api import CLUSTER, furnish, ingress, serving


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def problem(stack: str | None, *pairs: str) -> str:
    with pytest.raises(SettingsError) as caught:
        sources.online(stack, pairs, {})
    return str(caught.value)


def test_the_label_of_a_stack_is_legal_however_long_its_name() -> None:
    assert sources.stack_label("prod") == "pic.prod"
    assert len(sources.stack_label("x" * 100)) == 63


@pytest.mark.usefixtures("root")
def test_without_a_stack_file_init_is_named() -> None:
    assert problem(None) == "there is no stack file yet: pic init --stack NAME writes one"


def test_the_only_stack_is_taken(root: Path) -> None:
    StackFile(root, "prod").merge({"maxRemovals": 3})

    run = sources.online(None, [], {})

    assert run == Run(Settings(max_removals=3), "pic.prod", Ownership("pic.prod"), ())


def test_of_several_stacks_one_must_be_named(root: Path) -> None:
    StackFile(root, "prod").merge({"adopt": True})
    StackFile(root, "dev").merge({"adopt": False})

    assert problem(None) == "name the stack with --stack: dev, prod"
    assert sources.online("prod", [], {}).ownership == Ownership("pic.prod", adopt=True)


def test_flags_go_before_the_stack_and_the_environment_comes_last(root: Path) -> None:
    StackFile(root, "prod").merge({"maxRemovals": 3, "backendScheme": "https"})

    run = sources.online(
        "prod",
        ["maxRemovals=4", "clusterDomain=b.org"],
        {"PIC_BACKEND_SCHEME": "http", "PIC_DEFAULT_TUNNEL_NAME": "home"},
    )

    assert run.settings == Settings(
        max_removals=4, cluster_domain="b.org", backend_scheme="https", default_tunnel="home"
    )
    assert [each.reason for each in run.remarks] == [Reason.SETTING_DIFFERS]


def test_every_flag_that_is_no_setting_is_told() -> None:
    with pytest.raises(SettingsError) as caught:
        sources.given(["a=b", "adopt", "=x", "c=d=e"])

    assert str(caught.value) == "--config 'adopt' is not KEY=VALUE\n--config '=x' is not KEY=VALUE"
    assert sources.given(["a=b", "c=d=e", "f="]) == {"a": "b", "c": "d=e", "f": ""}


@pytest.mark.usefixtures("root")
def test_offline_without_a_stack_every_stacks_objects_are_ours() -> None:
    run = sources.offline(None, ["adopt=true"], {})

    assert run == Run(Settings(adopt=True), "pic.offline", Ownership("", adopt=True), ())


def test_offline_with_a_stack_its_settings_count(root: Path) -> None:
    StackFile(root, "prod").merge({"maxRemovals": 3})

    run = sources.offline("prod", [], {})

    assert run == Run(Settings(max_removals=3), "pic.prod", Ownership("pic.prod"), ())


def manifest(root: Path, *objects: dict[str, object]) -> str:
    path = root / "web.yaml"
    path.write_text(yaml.safe_dump_all(objects))
    return str(path)


def web(name: str = "web") -> dict[str, object]:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {"name": name, "namespace": "prod", "uid": "uid"},
    }


@pytest.mark.parametrize(
    ("setting", "schema"),
    [
        (ResourceSchema.AUTO, live.SCHEMA_TARGETS),
        (ResourceSchema.TARGETS, live.SCHEMA_TARGETS),
        (ResourceSchema.TARGET, live.SCHEMA_TARGET),
    ],
)
def test_files_alone_make_a_snapshot_of_the_schema_that_is_set(
    root: Path, setting: ResourceSchema, schema: object
) -> None:
    snapshot = sources.offline_snapshot([manifest(root, web())], Settings(resource_schema=setting))

    assert snapshot == Snapshot(ingresses=(Ingress("prod", "web", "uid"),), schema=schema)  # type: ignore[arg-type]


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    text = yaml.safe_dump(web()).encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))

    snapshot = sources.offline_snapshot(["-"], Settings())

    assert [each.key for each in snapshot.ingresses] == [("prod", "web")]


def test_a_path_that_is_not_there_is_told() -> None:
    with pytest.raises(ManifestError, match=r"^/nowhere: cannot be read: No such file"):
        sources.offline_snapshot(["/nowhere"], Settings())


def test_a_live_snapshot_is_the_cluster_with_files_laid_over_it(tmp_path: Path) -> None:
    with serving() as api:
        furnish(api, [ingress("web", "a.org"), ingress("other", "b.org")])
        environment = {"KUBECONFIG": api.kubeconfig(tmp_path / "config")}
        new = manifest(tmp_path, web(), web("new"))

        bare = sources.live_snapshot(Settings(), environment)
        laid = sources.live_snapshot(Settings(), environment, [new])

    assert bare.cluster_id == laid.cluster_id == CLUSTER
    assert [each.name for each in bare.ingresses] == ["web", "other"]
    assert [(each.name, each.uid, len(each.rules)) for each in laid.ingresses] == [
        ("web", "uid-prod-web", 0),
        ("other", "uid-prod-other", 1),
        ("new", derived_uid("Ingress", "prod", "new"), 0),
    ]
    assert [each.path.partition("?")[0] for each in api.asked].count(f"{NETWORKING}/ingresses") == 2
