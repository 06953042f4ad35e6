"""Tests the records of Pi-hole in a snapshot file."""

import io
import json
from dataclasses import replace
from typing import Any

import pytest

from pic.core import names
from pic.core.errors import ManifestError, PiholeError
from pic.core.model import LiveRecord, Maker
from pic.core.register import bucket_of
from pic.core.unread import Unanswered
from pic.settings.kinds import CONFIG_MAP
from pic.settings.parse import Settings, TargetName
from pic.snapshot import assemble, snapshot_file
from pic.snapshot.assemble import RawSnapshot

PIHOLE = Settings(targets=(TargetName.PIHOLE,), pihole_target_ip="192.0.2.1")
NEXT_STEP = "run pic snapshot --out FILE to write a new one"
INGRESS = {
    "metadata": {"name": "web", "namespace": "lab", "annotations": {"pihole.io/register": "true"}},
    "spec": {"rules": [{"host": "Web.lan"}]},
}
OURS = LiveRecord("gone.lan", "192.0.2.9", ours=True)
REQUESTED = LiveRecord("web.lan", "192.0.2.8", alone=False)
BY_HAND = LiveRecord("diary.lan", "192.0.2.7")


def raw_snapshot(*records: LiveRecord) -> RawSnapshot:
    return RawSnapshot({"Ingress": [INGRESS]}, "cluster-1", records=records)


def written_and_read(raw: RawSnapshot) -> RawSnapshot:
    text = snapshot_file.render(raw, PIHOLE)
    return snapshot_file.read("-", PIHOLE, io.BytesIO(text.encode()))


def test_a_file_contains_our_records_and_others_for_requested_hosts() -> None:
    text = snapshot_file.render(raw_snapshot(REQUESTED, BY_HAND, OURS), PIHOLE)

    assert '"unanswered": null, "records": [\n' in text
    assert text.splitlines()[1:4] == [
        '{"host": "gone.lan", "ip": "192.0.2.9", "ours": true, "alone": true},',
        '{"host": "web.lan", "ip": "192.0.2.8", "ours": false, "alone": false}',
        '], "objects": {',
    ]
    assert "diary" not in text


def test_a_file_contains_the_records_of_the_register() -> None:
    digit = bucket_of(BY_HAND.host)
    labels = {names.STACK_LABEL: "pic.prod", names.BUCKET_LABEL: digit}
    data = {"_bucket": "{}", BY_HAND.host: '{"A":{"ip":"192.0.2.7"}}'}
    bucket = {"metadata": {"name": f"pic-prod-{digit}", "labels": labels}, "data": data}
    raw = raw_snapshot(BY_HAND, REQUESTED)
    raw = replace(raw, objects={**raw.objects, CONFIG_MAP: [bucket]})

    registers = assemble.snapshot(raw).registers
    text = snapshot_file.render(raw, PIHOLE)

    assert registers is not None
    assert [*registers["pic.prod"].records] == [f"{BY_HAND.host}/A"]
    assert text.splitlines()[1].startswith('{"host": "diary.lan", ')


def test_written_records_can_be_read() -> None:
    assert written_and_read(raw_snapshot(REQUESTED, OURS)).records == (OURS, REQUESTED)
    assert written_and_read(raw_snapshot()).records == ()


def test_without_a_read_of_pihole_a_file_has_no_records() -> None:
    read = written_and_read(replace(raw_snapshot(), records=None))

    assert (read.records, read.unanswered) == (None, None)


def test_a_file_says_why_pihole_did_not_answer() -> None:
    why = Unanswered("http://pi.hole", PiholeError("no answer: check the network"))

    read = written_and_read(replace(raw_snapshot(), records=None, unanswered=why))

    assert read.records is None
    assert read.unanswered is not None
    assert (read.unanswered.url, str(read.unanswered.error)) == (
        "http://pi.hole",
        "no answer: check the network",
    )


def written(**parts: object) -> Any:
    return {**json.loads(snapshot_file.render(raw_snapshot(OURS), PIHOLE)), **parts}


def problem(document: object, settings: Settings = PIHOLE) -> str:
    with pytest.raises(ManifestError) as caught:
        snapshot_file.read("-", settings, io.BytesIO(json.dumps(document).encode()))
    return str(caught.value)


def test_a_file_without_records_is_refused_when_pihole_is_a_target() -> None:
    document = {key: value for key, value in written().items() if key != "records"}

    assert problem(document) == (
        "stdin: the file was written for other settings: it lacks the records of Pi-hole;"
        f" {NEXT_STEP}"
    )


def test_a_file_with_records_is_refused_when_pihole_is_no_target() -> None:
    assert "also has the records of Pi-hole" in problem(written(), Settings())


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"records": {}}, "records is not a list of maps with host, ip, ours, alone"),
        ({"records": [3]}, "records is not a list of maps with host, ip, ours, alone"),
        ({"records": [{"host": "a"}]}, "records is not a list of maps with host, ip, ours, alone"),
        (
            {"records": [{"host": "a", "ip": 1, "ours": True, "alone": True}]},
            "records contains a value of the wrong type",
        ),
        ({"unanswered": 3}, "unanswered is not a map with url, problem"),
        ({"unanswered": {"url": "u"}}, "unanswered is not a map with url, problem"),
    ],
)
def test_malformed_records_are_refused(parts: dict[str, object], message: str) -> None:
    assert problem(written(**parts)) == f"stdin: {message}; {NEXT_STEP}"


def test_a_file_contains_what_answers_for_requested_hosts() -> None:
    raw = replace(raw_snapshot(REQUESTED), shadows={"web.lan": "nas", "diary.lan": "nas"})

    assert written_and_read(raw).shadows == {"web.lan": "nas"}
    assert written_and_read(raw_snapshot()).shadows == {}


def test_a_file_contains_which_other_pic_made_a_record() -> None:
    other = replace(REQUESTED, maker=Maker.OTHER_STACK)

    assert written_and_read(raw_snapshot(other)).records == (other,)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"shadows": ["nas"]}, "shadows is not a map of texts"),
        ({"shadows": {"web.lan": 3}}, "shadows is not a map of texts"),
        (
            {"records": [{"host": "a", "ip": "b", "ours": True, "alone": True, "maker": "me"}]},
            "records contains an unknown maker",
        ),
    ],
)
def test_other_shadows_and_makers_are_refused(change: dict[str, Any], expected: str) -> None:
    assert expected in problem({**written(), **change})
