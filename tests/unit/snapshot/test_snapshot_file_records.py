"""What a snapshot file has of Pi-hole."""

import io
import json
from dataclasses import replace
from typing import Any

import pytest

from pic.core.errors import ManifestError, PiholeError
from pic.core.model import LiveRecord, Unanswered
from pic.settings.parse import Settings, TargetName
from pic.snapshot import snapshot_file
from pic.snapshot.assemble import RawSnapshot

PIHOLE = Settings(targets=(TargetName.PIHOLE,), pihole_target_ip="192.0.2.1")
NEXT = "pic snapshot --out FILE writes a new one"
INGRESS = {
    "metadata": {"name": "web", "namespace": "lab", "annotations": {"pihole.io/register": "true"}},
    "spec": {"rules": [{"host": "Web.lan"}]},
}
OURS = LiveRecord("gone.lan", "192.0.2.9", ours=True)
ASKED = LiveRecord("web.lan", "192.0.2.8", alone=False)
BY_HAND = LiveRecord("diary.lan", "192.0.2.7")


def seen(*records: LiveRecord) -> RawSnapshot:
    return RawSnapshot({"Ingress": [INGRESS]}, "cluster-1", records=records)


def again(found: RawSnapshot) -> RawSnapshot:
    text = snapshot_file.document(found, PIHOLE)
    return snapshot_file.read("-", PIHOLE, io.BytesIO(text.encode()))


def test_our_records_are_written_and_those_of_others_for_hosts_that_are_asked_for() -> None:
    text = snapshot_file.document(seen(ASKED, BY_HAND, OURS), PIHOLE)

    assert '"unanswered": null, "records": [\n' in text
    assert text.splitlines()[1:4] == [
        '{"host": "gone.lan", "ip": "192.0.2.9", "ours": true, "alone": true},',
        '{"host": "web.lan", "ip": "192.0.2.8", "ours": false, "alone": false}',
        '], "objects": {',
    ]
    assert "diary" not in text


def test_what_was_written_is_read_again() -> None:
    assert again(seen(ASKED, OURS)).records == (OURS, ASKED)
    assert again(seen()).records == ()


def test_a_pihole_that_was_not_asked_has_no_records() -> None:
    found = again(replace(seen(), records=None))

    assert (found.records, found.unanswered) == (None, None)


def test_why_a_pihole_did_not_answer_is_in_the_file() -> None:
    why = Unanswered("http://pi.hole", PiholeError("no answer: check the network"))

    found = again(replace(seen(), records=None, unanswered=why))

    assert found.records is None
    assert found.unanswered is not None
    assert (found.unanswered.url, str(found.unanswered.error)) == (
        "http://pi.hole",
        "no answer: check the network",
    )


def written(**parts: object) -> Any:
    return {**json.loads(snapshot_file.document(seen(OURS), PIHOLE)), **parts}


def problem(document: object, settings: Settings = PIHOLE) -> str:
    with pytest.raises(ManifestError) as caught:
        snapshot_file.read("-", settings, io.BytesIO(json.dumps(document).encode()))
    return str(caught.value)


def test_a_file_that_was_written_without_the_target_lacks_the_records() -> None:
    document = {key: value for key, value in written().items() if key != "records"}

    assert problem(document) == (
        f"stdin: it was written for other settings: it lacks the records of Pi-hole; {NEXT}"
    )


def test_a_file_that_was_written_with_the_target_has_more_than_a_stack_without_it_reads() -> None:
    assert "also has the records of Pi-hole" in problem(written(), Settings())


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"records": {}}, "records is not a list of maps of host, ip, ours, alone"),
        ({"records": [3]}, "records is not a list of maps of host, ip, ours, alone"),
        ({"records": [{"host": "a"}]}, "records is not a list of maps of host, ip, ours, alone"),
        (
            {"records": [{"host": "a", "ip": 1, "ours": True, "alone": True}]},
            "records has a value of another kind",
        ),
        ({"unanswered": 3}, "unanswered is not a map of url, problem"),
        ({"unanswered": {"url": "u"}}, "unanswered is not a map of url, problem"),
    ],
)
def test_records_of_another_shape_are_refused(parts: dict[str, object], message: str) -> None:
    assert problem(written(**parts)) == f"stdin: {message}; {NEXT}"
