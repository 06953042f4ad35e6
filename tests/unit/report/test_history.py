"""Tests how the past is printed, with hosts and texts that try to do harm."""

import csv
import io

from pic.planning.changes import FieldChange
from pic.planning.past import REGISTER, Deployment, Happening, Past, What
from pic.report import history

TIME = "2026-01-01T00:00:00Z"
MADE = Deployment(7, TIME, "failed", "alice", "0123456789abcdef", "https://ci/1", "3f1c")
CHANGED = Happening(
    *(TIME, "a.example.com", What.CHANGED, "prod/pic-a", "login"),
    fields=tuple(FieldChange(f"spec.f{n}", old=None, new=True) for n in range(8)),
    deployment=MADE,
)
OLD = Happening("", "nas.lan", What.EXPOSED, "192.0.2.1", remark=REGISTER, is_record=True)
EVIL = Happening(TIME, "=cmd()\x1b[31m\u202e", What.REMOVED, deployment=Deployment(8, actor="@x"))
PAST = Past((CHANGED, OLD, EVIL), 2, TIME, ("one\x1b remark",))


def test_the_text_has_one_line_for_each_happening_and_says_how_far_back_it_goes() -> None:
    table, remark, horizon = history.render(PAST).split("\n\n")

    lines = [" ".join(line.split()) for line in table.splitlines()]
    shown = "; ".join(f"spec.f{n}: (absent) → true" for n in range(6))
    assert lines == [
        "TIME HOST WHAT BY DETAILS",
        f"{TIME} a.example.com changed (login) alice, commit 0123456789ab, https://ci/1,"
        f" acknowledged 3f1c, the run failed prod/pic-a; {shown}; and 2 more",
        "earlier nas.lan (DNS) exposed by the register 192.0.2.1",
        f"{TIME} =cmd()\\u001b[31m\\u202e removed @x -",
    ]
    assert remark == "one\\u001b remark"
    assert horizon.startswith(f"2 deployments since {TIME}. The backend keeps no older ones")


def test_nothing_is_said_plainly() -> None:
    assert history.render(Past()) == (
        "No deployment is known: what is shown is what the register remembers."
    )
    assert history.horizon(Past((), 1)).startswith("1 deployment. ")


def test_the_json_has_the_same_content() -> None:
    document = history.as_json(PAST)

    lines = document["history"]
    assert document["version"] == 1
    assert isinstance(lines, list)
    assert lines[0]["deployment"] == {
        "number": 7,
        "time": TIME,
        "result": "failed",
        "actor": "alice",
        "commit": "0123456789abcdef",
        "pipeline": "https://ci/1",
        "acknowledged": "3f1c",
    }
    assert lines[0]["fields"][0] == {"path": "spec.f0", "old": None, "new": True}
    assert (lines[1]["time"], lines[1]["deployment"], lines[1]["record"]) == (None, None, True)


def test_no_cell_of_the_csv_is_a_formula() -> None:
    rows = list(csv.DictReader(io.StringIO(history.as_csv(PAST))))

    assert tuple(rows[0]) == history.COLUMNS
    assert (rows[2]["host"], rows[2]["actor"]) == ("'=cmd()\\u001b[31m\\u202e", "'@x")
