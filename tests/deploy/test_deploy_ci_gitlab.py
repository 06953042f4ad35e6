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
        data = json.dumps(answer).encode()
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
        "CI_MERGE_REQUEST_IID": "9",
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "release/1",
        "CI_JOB_TOKEN": "job",
        "PIC_COMMENT_TOKEN": "bot",
    }


NOTES = "/projects/5/merge_requests/9/notes"


def note(number: int, author: int, body: str) -> dict[str, object]:
    return {"id": number, "author": {"id": author}, "body": body}


@pytest.mark.parametrize(
    ("last", "written"),
    [
        (note(203, 1, f"{MARKER}\nold"), f"PUT {NOTES}/203"),
        (note(203, 2, f"{MARKER}\nof another user"), f"POST {NOTES}"),
        (note(203, 1, "<!-- pic:review:pic.test -->\nof another stack"), f"POST {NOTES}"),
    ],
)
def test_a_merge_request_has_one_comment_for_each_stack(
    tmp_path: Path, server: Server, last: dict[str, object], written: str
) -> None:
    (tmp_path / "comment.md").write_text(f"{MARKER}\nnew")
    server.answers = {
        "GET /user": {"id": 1},
        f"GET {NOTES}?per_page=100&page=1": [note(at, 1, "hello") for at in range(100)],
        f"GET {NOTES}?per_page=100&page=2": [last],
        f"PUT {NOTES}/203": {},
        f"POST {NOTES}": {},
    }

    merge_request.comment(variables(server), tmp_path / "comment.md")

    assert server.requests == [
        ("bot", "GET /user", None),
        ("bot", f"GET {NOTES}?per_page=100&page=1", None),
        ("bot", f"GET {NOTES}?per_page=100&page=2", None),
        ("bot", written, {"body": f"{MARKER}\nnew"}),
    ]


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
