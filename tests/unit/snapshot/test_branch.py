"""Tests how the manifest files of a branch are combined with the objects in the cluster."""

import io
from pathlib import Path

import pytest
import yaml

from pic.core.errors import ManifestError, PiholeError, SettingsError
from pic.core.files import FilesRead
from pic.core.ingress import Ingress
from pic.core.model import Snapshot
from pic.core.operator_objects import Schema
from pic.core.unread import Unanswered
from pic.settings.parse import ResourceSchema, Settings
from pic.snapshot import assemble, pangolin
from pic.snapshot.assemble import RawSnapshot
from pic.snapshot.branch import Branch, Proposal, check_stdin, offline_snapshot, propose
from tests.support.manifests import ingress_manifest, write_manifests


@pytest.mark.parametrize(
    ("setting", "schema"),
    [
        (ResourceSchema.AUTO, pangolin.SCHEMA_TARGETS),
        (ResourceSchema.TARGETS, pangolin.SCHEMA_TARGETS),
        (ResourceSchema.TARGET, pangolin.SCHEMA_TARGET),
    ],
)
def test_files_alone_make_a_snapshot_with_the_schema_in_the_settings(
    tmp_path: Path, setting: ResourceSchema, schema: Schema
) -> None:
    path = write_manifests(tmp_path, ingress_manifest("web"))

    snapshot = offline_snapshot([path], Settings(resource_schema=setting))

    files = FilesRead(partial=True, files=1, objects=1, classes={"": 1})
    assert snapshot == Snapshot(
        ingresses=(Ingress("prod", "web", "uid"),), schema=schema, files=files
    )


def test_files_of_namespaces_that_a_live_run_does_not_read_are_ignored(tmp_path: Path) -> None:
    here, elsewhere = ingress_manifest("web"), ingress_manifest("web", namespace="dev")
    settings = Settings(namespaces=("prod",))

    snapshot = offline_snapshot([write_manifests(tmp_path, here, elsewhere)], settings)

    assert [ingress.key for ingress in snapshot.ingresses] == [("prod", "web")]


def test_a_dash_means_standard_input() -> None:
    stdin = io.TextIOWrapper(io.BytesIO(yaml.safe_dump(ingress_manifest("web")).encode()))

    snapshot = offline_snapshot(["-"], Settings(), stdin=stdin)

    assert [ingress.key for ingress in snapshot.ingresses] == [("prod", "web")]


def test_a_path_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(ManifestError, match=r"^/nowhere: cannot be read: No such file"):
        offline_snapshot(["/nowhere"], Settings())


def test_standard_input_can_be_named_only_once() -> None:
    check_stdin(["-", "a"], ["b"], [""])

    with pytest.raises(SettingsError) as caught:
        check_stdin(["a"], ["-"], ["-"])

    assert str(caught.value) == "use - only once: standard input can be read only once"


def test_a_base_without_manifests_is_refused() -> None:
    with pytest.raises(SettingsError) as caught:
        propose(RawSnapshot(), Branch(base=["x"]), Settings())

    assert str(caught.value) == (
        "--base needs --manifests: name the same paths on the branch, even if the branch has"
        " deleted them"
    )


def test_without_a_branch_a_proposal_has_nothing_to_compare_with() -> None:
    assert propose(RawSnapshot(), Branch(), Settings()) == Proposal(RawSnapshot())


def names(raw: RawSnapshot) -> list[str]:
    return [ingress.name for ingress in assemble.snapshot(raw).ingresses]


def files(folder: Path, *names: str) -> str:
    folder.mkdir()
    return write_manifests(folder, *(ingress_manifest(name) for name in names))


def live(*names: str) -> RawSnapshot:
    return RawSnapshot({"Ingress": [ingress_manifest(name) for name in names]})


def test_a_branch_deletes_what_is_only_in_its_base(tmp_path: Path) -> None:
    raw = live("unchanged", "deleted", "unrelated")
    new = files(tmp_path / "new", "unchanged", "added")
    old = files(tmp_path / "old", "unchanged", "deleted")

    proposal = propose(raw, Branch([new], base=[old]), Settings())

    assert names(proposal.after) == ["unchanged", "unrelated", "added"]
    assert [names(before) for before in proposal.before] == [names(raw), names(raw)]


def test_the_comparison_includes_what_the_target_branch_adds(tmp_path: Path) -> None:
    new, old = files(tmp_path / "new", "a"), files(tmp_path / "old", "merged")

    proposal = propose(live("live"), Branch([new], base=[old]), Settings())

    assert names(proposal.after) == ["live", "a"]
    assert [names(before) for before in proposal.before] == [["live"], ["live", "merged"]]


def test_a_branch_with_a_base_can_have_deleted_all_its_files(tmp_path: Path) -> None:
    raw = live("deleted", "unrelated")
    old, missing = files(tmp_path / "old", "deleted"), str(tmp_path / "new")

    proposal = propose(raw, Branch([missing], base=[old]), Settings())

    assert names(proposal.after) == ["unrelated"]
    with pytest.raises(ManifestError, match="No such file"):
        propose(raw, Branch([missing]), Settings())
    with pytest.raises(ManifestError, match="No such file"):
        propose(raw, Branch([old], base=[missing]), Settings())


def test_a_branch_deletes_removed_files_unless_their_objects_are_in_another_file(
    tmp_path: Path,
) -> None:
    raw = live("deleted", "renamed-file", "unrelated")
    new = files(tmp_path / "new", "renamed-file")
    removed = files(tmp_path / "removed", "deleted", "renamed-file")

    proposal = propose(raw, Branch([new], removed=[removed]), Settings())
    alone = propose(raw, Branch(removed=[removed]), Settings())

    assert names(proposal.after) == ["renamed-file", "unrelated"]
    assert names(alone.after) == ["unrelated"]
    assert [names(before) for before in alone.before] == [names(raw)]


def test_files_outside_the_namespaces_of_the_stack_are_ignored(tmp_path: Path) -> None:
    tunnel: dict[str, object] = {
        "apiVersion": "tunnel.pangolin.io/v1alpha1",
        "kind": "PangolinTunnel",
        "metadata": {"name": "x", "namespace": "prod"},
    }
    raw = RawSnapshot({"Ingress": [], "PangolinTunnel": []})
    branch = Branch([write_manifests(tmp_path, ingress_manifest("web"), tunnel)])

    def counts(settings: Settings) -> tuple[int, int]:
        after = assemble.snapshot(propose(raw, branch, settings).after)
        return len(after.ingresses), len(after.tunnels or ())

    assert counts(Settings()) == (1, 1)
    assert counts(Settings(namespaces=("prod",), tunnel_namespace="prod")) == (1, 1)
    assert counts(Settings(namespaces=("team",))) == (0, 1)
    assert counts(Settings(tunnel_namespace="net")) == (1, 0)


def test_only_the_proposal_says_that_records_were_not_compared(tmp_path: Path) -> None:
    path = tmp_path / "branch.yaml"
    path.write_text("")
    why = Unanswered("http://pi.hole", PiholeError("no answer"))

    proposal = propose(RawSnapshot(unanswered=why), Branch([str(path)]), Settings())

    after = RawSnapshot(unanswered=why, files=FilesRead(files=1))
    assert proposal == Proposal(after, (RawSnapshot(),))
