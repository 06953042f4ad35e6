"""Tests what the history of a stack says each deployment did."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pic.core.model import PUBLIC_TYPE
from pic.engine.backend import past
from pic.planning.changes import FieldChange
from pic.planning.past import Deployment, Happening, What
from tests.support import histories
from tests.support.deployed import A, B, wanted

FIRST = {"create": 3}


def read(root: Path, most: int = 50) -> past.Reading:
    return past.read(f"file://{root}", "pic", "prod", most)


def made(number: int, **fields: str) -> Deployment:
    """Return a deployment, by default of the committer that git names."""
    told = {"actor": "carol", "commit": "0123456789abcdef", **fields}
    return Deployment(number, f"2026-01-01T00:0{number}:00Z", "succeeded", **told)


def test_each_deployment_says_what_it_exposed_changed_moved_and_removed(tmp_path: Path) -> None:
    message = "pic\n\nActor: alice\nPipeline: https://ci/1\nAcknowledged: 3f1c"
    histories.write(tmp_path, 1, wanted(A), counts=FIRST)
    histories.write(tmp_path, 2, wanted(A, sso=True), wanted(B), message=message)
    histories.write(tmp_path, 3, wanted(A, sso=True), wanted(B, "team"), zipped=True)
    histories.write(tmp_path, 4, wanted(B, "team"))

    reading = read(tmp_path)

    alice = made(2, actor="alice", pipeline="https://ci/1", acknowledged="3f1c")
    login = (FieldChange("spec.httpConfig.sso", old=False, new=True),)
    assert reading.remarks == []
    assert reading.deployments == [made(1), alice, made(3), made(4)]
    assert reading.happenings == [
        Happening(made(1).time, A, What.EXPOSED, "prod/pic-a", "public", deployment=made(1)),
        Happening(alice.time, A, What.CHANGED, "prod/pic-a", "login", login, alice),
        Happening(alice.time, B, What.EXPOSED, "prod/pic-b", "public", deployment=alice),
        Happening(
            *(made(3).time, B, What.MOVED, "prod/pic-b → team/pic-b", "public"), deployment=made(3)
        ),
        Happening(made(4).time, A, What.REMOVED, "prod/pic-a", deployment=made(4)),
    ]


def test_records_come_change_and_go(tmp_path: Path) -> None:
    histories.write(tmp_path, 1, records={"a.lan/A": "192.0.2.1"}, counts=FIRST)
    histories.write(tmp_path, 2, records={"a.lan/A": "192.0.2.2"})
    histories.write(tmp_path, 3, records={"a.lan/A": "192.0.2.2"})
    histories.write(tmp_path, 4)
    (tmp_path / histories.FOLDER / "prod-5.history.json.attrs").write_text("{}")

    told = [(it.what, it.host, it.place, it.is_record) for it in read(tmp_path).happenings]

    assert told == [
        (What.EXPOSED, "a.lan", "192.0.2.1", True),
        (What.CHANGED, "a.lan", "192.0.2.2", True),
        (What.REMOVED, "a.lan", "192.0.2.2", True),
    ]


def test_what_is_older_than_the_history_has_no_time(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        records = {"a.lan/A": "192.0.2.1"}
        histories.write(tmp_path, number, wanted(A), records=records, counts=FIRST)
    histories.write(tmp_path, 4, wanted(A), records={"a.lan/A": "192.0.2.1"})

    reading = read(tmp_path, most=1)

    assert [it.number for it in reading.deployments] == [4]
    assert reading.happenings == [
        Happening("", A, What.EXPOSED, "prod/pic-a", "public"),
        Happening("", "a.lan", What.EXPOSED, "192.0.2.1", is_record=True),
    ]


def test_a_history_of_another_tool_and_no_history_are_empty(tmp_path: Path) -> None:
    assert read(tmp_path) == past.Reading()

    histories.write(tmp_path, 1, message="Actor: mallory\nchore: update")

    reading = read(tmp_path)
    assert ([it.actor for it in reading.deployments], reading.happenings) == (["carol"], [])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("prod-2.history.json", b"{"),
        ("prod-2.history.json", b"[]"),
        ("prod-2.checkpoint.json", b'{"checkpoint": {"latest": {"resources": {"a": 1}}}}'),
        ("prod-2.checkpoint.json", b"\xff\xfe"),
        ("prod-2.checkpoint.json.gz", b"no gzip"),
        ("prod-2.checkpoint.json.gz", b""),
    ],
)
def test_an_entry_that_cannot_be_read_is_counted(tmp_path: Path, name: str, content: bytes) -> None:
    histories.write(tmp_path, 1, wanted(A), counts=FIRST)
    histories.write(tmp_path, 2, wanted(A), wanted(B))
    histories.write(tmp_path, 3, wanted(A), wanted(B))
    folder = tmp_path / histories.FOLDER
    (folder / name.removesuffix(".gz")).unlink()
    (folder / name).write_bytes(content)

    reading = read(tmp_path)

    assert [(it.time[14:16], it.host) for it in reading.happenings] == [("01", A), ("03", B)]
    assert reading.remarks == [
        "1 deployment cannot be read; the next readable one shows what they did"
    ]


def test_entries_that_are_half_gone_and_objects_that_are_none_are_counted(tmp_path: Path) -> None:
    histories.write(tmp_path, 1, wanted(A), counts=FIRST)
    histories.write(tmp_path, 2, wanted(A))
    histories.write(tmp_path, 3, replace(wanted(A), name="No Name"))
    (tmp_path / histories.FOLDER / "prod-2.checkpoint.json").unlink()

    assert read(tmp_path).remarks == [
        "2 deployments cannot be read; the next readable one shows what they did"
    ]


@pytest.mark.parametrize("time", [0, -5, "soon", 10**30])
def test_a_time_that_no_clock_shows_is_unknown(tmp_path: Path, time: object) -> None:
    histories.write(tmp_path, 1, wanted(A), counts=FIRST, time=time)

    assert [it.time for it in read(tmp_path).deployments] == [""]


def test_a_service_and_an_unknown_backend_are_remarks() -> None:
    (service,) = past.read("https://api.example.com", "pic", "prod", 5).remarks
    (unknown,) = past.read("gs://bucket", "pic", "prod", 5).remarks

    assert service.endswith("pulumi stack history --stack prod lists them")
    assert unknown.startswith("the history of the stack cannot be read: ")


def test_a_host_in_pangolin_itself_changes_as_well(tmp_path: Path) -> None:
    for number, sso in ((1, True), (2, False)):
        histories.write(tmp_path, number, counts=FIRST)
        target = {"siteId": 1, "ip": "web", "port": 80, "method": "http"}
        entry = {
            "urn": f"urn:pulumi:prod::pic::{PUBLIC_TYPE}::{A}",
            "type": PUBLIC_TYPE,
            "id": "7",
            "inputs": {"object": "prod/pic-a", "sso": sso, "targets": [target]},
        }
        path = tmp_path / histories.FOLDER / f"prod-{number}.checkpoint.json"
        path.write_text(json.dumps({"checkpoint": {"latest": {"resources": [entry]}}}))

    told = [(it.what, it.place, it.access, it.fields) for it in read(tmp_path).happenings]

    assert told == [
        (What.EXPOSED, "prod/pic-a", "login", ()),
        (
            What.CHANGED,
            "prod/pic-a",
            "public",
            (FieldChange("spec.httpConfig.sso", old=True, new=False),),
        ),
    ]
