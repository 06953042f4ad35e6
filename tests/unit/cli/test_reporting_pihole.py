"""Tests `pic diff` of DNS records with a snapshot file: without a cluster and without a Pi-hole."""

from pathlib import Path

import pytest

from pic.core.errors import PiholeError
from pic.core.model import LiveRecord
from pic.core.unread import Unanswered
from pic.settings.parse import Settings, TargetName
from pic.settings.stack_file import StackFile
from pic.snapshot import snapshot_file
from pic.snapshot.assemble import RawSnapshot
from tests.support.fakes import run_pic

URL = "http://192.0.2.53"
SETTINGS = Settings(
    cluster_id="cluster-1",
    targets=(TargetName.PIHOLE,),
    pihole_url=URL,
    pihole_target_ip="192.0.2.1",
)
WEB = {
    "metadata": {"name": "web", "namespace": "lab", "annotations": {"pihole.io/register": "true"}},
    "spec": {"rules": [{"host": "web.lan"}]},
}
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    raw = {
        "clusterId": "cluster-1",
        "targets": "pihole",
        "piholeUrl": URL,
        "piholeTargetIp": "192.0.2.1",
    }
    StackFile(tmp_path, "prod").merge(raw)
    return tmp_path


def diff(capsys: Capture, raw: RawSnapshot, *words: str) -> tuple[int, list[str]]:
    Path("prod.json").write_text(snapshot_file.render(raw, SETTINGS))
    code, out, _ = run_pic(capsys, "diff", "--snapshot", "prod.json", *words)
    return code, out.splitlines()[:-3]


def test_a_review_shows_removed_and_changed_records(capsys: Capture) -> None:
    ours = (LiveRecord("web.lan", "192.0.2.9", ours=True), LiveRecord("old.lan", "::1", ours=True))
    raw = RawSnapshot({"Ingress": [WEB]}, "cluster-1", records=ours)

    assert diff(capsys, raw, "--expect-no-changes") == (
        7,
        [
            "1 DNS record removed, 1 DNS record changed (0 live, 0 planned; DNS records: 2 live, 1"
            " planned)",
            "",
            "- DNS record old.lan ::1 is removed: no Ingress requests it",
            "~ DNS record web.lan: 192.0.2.9 → 192.0.2.1",
        ],
    )


def test_too_many_removals_are_held(capsys: Capture) -> None:
    hosts = ("web.lan", *(f"h{number}.lan" for number in range(6)))
    ours = tuple(LiveRecord(host, "192.0.2.1", ours=True) for host in hosts)
    raw = RawSnapshot({"Ingress": [WEB]}, "cluster-1", records=ours)

    # A deployment leaves out what is held, so there are no changes.
    code, lines = diff(capsys, raw, "--expect-no-changes")

    assert (code, lines[0]) == (
        0,
        "no changes, 6 changes held, 6 warnings (0 live, 0 planned; DNS records: 7 live, 7"
        " planned)",
    )
    assert lines[3].startswith(
        "= h0.lan/A stays at 192.0.2.1: no Ingress requests it, but pic has removed as many records"
        " as it may"
    )


def test_a_review_in_which_no_record_survives_is_refused_after_the_report(capsys: Capture) -> None:
    ours = tuple(LiveRecord(f"h{number}.lan", "192.0.2.9", ours=True) for number in range(2))
    code, lines = diff(capsys, RawSnapshot({"Ingress": [WEB]}, "cluster-1", records=ours))

    assert code == 3
    assert lines[3] == (
        "- All 2 live DNS records would be removed: h0.lan (192.0.2.9), h1.lan (192.0.2.9)."
    )


def test_the_review_of_a_branch_says_if_records_were_not_compared(
    root: Path, capsys: Capture
) -> None:
    (root / "branch.yaml").write_text("")
    unanswered = Unanswered(URL, PiholeError("no answer. Check the network"))
    raw = RawSnapshot({"Ingress": [WEB]}, "cluster-1", unanswered=unanswered)

    assert diff(capsys, raw, "--manifests", "branch.yaml") == (
        0,
        [
            "no changes, 1 new warning (0 live, 0 planned; DNS records: not compared, 1 planned)",
            "",
            "No changes.",
            "",
            f"Warning: PiholeUnreadable: Pi-hole {URL}: its records are unknown, so pic neither"
            " compares nor holds them: no answer. Check the network",
        ],
    )


def test_every_form_says_why_a_record_goes(capsys: Capture) -> None:
    ours = (LiveRecord("web.lan", "192.0.2.1", ours=True), LiveRecord("old.lan", "::1", ours=True))
    raw = RawSnapshot({"Ingress": [WEB]}, "cluster-1", records=ours)

    for form in ("text", "markdown", "html", "json"):
        Path("prod.json").write_text(snapshot_file.render(raw, SETTINGS))
        _, out, _ = run_pic(capsys, "diff", "--snapshot", "prod.json", "--output", form)

        assert "no Ingress requests it" in out, form
