"""Tests the comment and the snapshot of a merge request on GitLab."""

import json
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import cast
from urllib.error import HTTPError

import pytest

from deploy.ci.gitlab import merge_request

MARKER = "<!-- pic:review:pic.prod -->"


class Server(ThreadingHTTPServer):
    """A fake GitLab: returns answers by method and path, and records the requests."""

    answers: Mapping[str, object]
    requests: list[tuple[str, str, object]]


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server = cast("Server", self.server)
        token = self.headers.get("PRIVATE-TOKEN") or self.headers.get("JOB-TOKEN") or "none"
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length) or "null")
        request = f"{self.command} {self.path}"
        server.requests.append((token, request, body))
        answer = server.answers.get(request)
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(404 if answer is None else 302 if answer == "moved" else 200)
        if answer == "moved":
            self.send_header("Location", "/store")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_POST = do_PUT = do_GET  # noqa: N815 - the names that the library looks for

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's word
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server(("127.0.0.1", 0), Handler)
    server.answers, server.requests = {}, []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def variables(server: Server) -> dict[str, str]:
    return {
        "CI_API_V4_URL": f"http://127.0.0.1:{server.server_port}",
        "CI_MERGE_REQUEST_PROJECT_ID": "5",
        "CI_PROJECT_ID": "5",
        "CI_DEFAULT_BRANCH": "main",
        "STACK": "prod",
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "release/1",
        "CI_JOB_TOKEN": "job",
        "PIC_COMMENT_TOKEN": "bot",
    }


PAGED = "per_page=100&page=1"
OPEN = f"GET /projects/5/merge_requests?state=opened&target_branch=main&{PAGED}"
REQUEST = "/projects/5/merge_requests/9"
PIPELINES, NOTES = f"GET {REQUEST}/pipelines?{PAGED}", f"{REQUEST}/notes"
JOBS = f"GET /projects/5/pipelines/70/jobs?{PAGED}"
ARTIFACT = "GET /projects/5/jobs/81/artifacts/comment.md"


def note(number: int, author: int, body: str) -> dict[str, object]:
    return {"id": number, "author": {"id": author}, "body": body}


def answers(report: str = f"{MARKER}\nnew") -> dict[str, object]:
    """Return the answers about one merge request whose report is in the artifacts."""
    return {
        "GET /user": {"id": 1},
        OPEN: [{"iid": 9}],
        PIPELINES: [{"id": 70, "project_id": 5}, {"id": 60, "project_id": 5}],
        JOBS: [{"id": 80, "name": "other"}, {"id": 81, "name": "pic-diff"}],
        ARTIFACT: report.encode(),
        f"GET {NOTES}?{PAGED}": [],
        f"POST {NOTES}": {},
        f"PUT {NOTES}/203": {},
    }


def written(server: Server) -> list[tuple[str, object]]:
    """Post the comments, and return the requests that write."""
    merge_request.comments(variables(server))
    assert {token for token, _, _ in server.requests} == {"bot"}
    return [(request, body) for _, request, body in server.requests if request[:3] != "GET"]


@pytest.mark.parametrize(
    ("last", "request_"),
    [
        (note(203, 1, f"{MARKER}\nold"), f"PUT {NOTES}/203"),
        (note(203, 2, f"{MARKER}\nof another user"), f"POST {NOTES}"),
        (note(203, 1, "<!-- pic:review:pic.test -->\nof another stack"), f"POST {NOTES}"),
    ],
)
def test_a_merge_request_has_one_comment_for_each_stack(
    server: Server, last: dict[str, object], request_: str
) -> None:
    server.answers = {
        **answers(),
        f"GET {NOTES}?{PAGED}": [note(at, 1, "hello") for at in range(100)],
        f"GET {NOTES}?per_page=100&page=2": [last],
    }

    assert written(server) == [(request_, {"body": f"{MARKER}\nnew"})]


def test_a_comment_that_is_the_same_is_not_edited(server: Server) -> None:
    same = note(203, 1, f"{MARKER}\nnew")
    server.answers = {**answers(f"{MARKER}\nnew\n"), f"GET {NOTES}?{PAGED}": [same]}

    assert written(server) == []


@pytest.mark.parametrize(
    "changed",
    [
        {OPEN: []},
        {PIPELINES: []},
        {PIPELINES: [{"id": 70, "project_id": 6}]},
        {JOBS: [{"id": 80, "name": "other"}]},
        {ARTIFACT: None},
        {ARTIFACT: b"come and win"},
        {ARTIFACT: b"<!-- pic:review:pic.test -->"},
    ],
    ids=["none", "no-pipeline", "of-a-fork", "no-job", "no-report", "no-marker", "other-stack"],
)
def test_only_a_report_of_this_project_is_posted(
    server: Server, changed: dict[str, object]
) -> None:
    server.answers = {**answers(), **changed}

    assert written(server) == []


def test_a_report_is_read_up_to_a_length(server: Server) -> None:
    server.answers = answers(f"{MARKER}\n{'x' * 2_000_000}")

    ((_, body),) = written(server)

    assert isinstance(body, dict)
    assert len(body["body"]) == merge_request.LONGEST


SNAPSHOT = "GET /projects/5/jobs/artifacts/release%2F1/raw/snapshot.json?job=pic-snapshot"


def test_the_snapshot_comes_from_the_target_branch_and_the_object_store_gets_no_token(
    tmp_path: Path, server: Server
) -> None:
    server.answers = {SNAPSHOT: "moved", "GET /store": {"kind": "pic snapshot"}}

    merge_request.snapshot(variables(server), tmp_path / "snapshot.json")

    assert json.loads((tmp_path / "snapshot.json").read_text()) == {"kind": "pic snapshot"}
    assert server.requests == [("job", SNAPSHOT, None), ("none", "GET /store", None)]


def test_a_missing_snapshot_writes_no_file(tmp_path: Path, server: Server) -> None:
    with pytest.raises(HTTPError) as caught:
        merge_request.snapshot(variables(server), tmp_path / "snapshot.json")

    caught.value.close()
    assert caught.value.code == 404
    assert not (tmp_path / "snapshot.json").exists()
