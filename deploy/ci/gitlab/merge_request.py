# ruff: noqa: INP001 - a script of its own
"""What a merge-request job asks of GitLab: the snapshot, and the comment. Nothing but stdlib.

python merge_request.py snapshot FILE   downloads the snapshot of the target branch
python merge_request.py comment FILE    posts the report, or edits the one that is there
"""

import json
import os
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

PAGE = 100
SECONDS = 30.0


class GitLab:
    """The API, spoken to with one token.

    Attributes:
        token: Name and value of the header that carries it.
    """

    def __init__(self, environment: Mapping[str, str], token: tuple[str, str]) -> None:
        project = environment["CI_MERGE_REQUEST_PROJECT_ID"]
        self.server = environment["CI_API_V4_URL"]
        self.project = f"projects/{project}"
        self.token = token

    def ask(self, method: str, path: str, body: object = None) -> bytes:
        """Return the answer.

        Raises:
            OSError: There was none, or it was a no.
        """
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(  # noqa: S310 - the address is the job's own server
            f"{self.server}/{path}", data, {"Content-Type": "application/json"}, method=method
        )
        # A redirect leads to a store of objects, which must not see it.
        request.add_unredirected_header(*self.token)
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310
            found: bytes = answer.read()
        return found

    def notes(self, path: str) -> Iterator[dict[str, Any]]:
        """Yield all comments of a merge request."""
        for page in count(1):
            query = urlencode({"per_page": PAGE, "page": page})
            found = json.loads(self.ask("GET", f"{path}?{query}"))
            yield from found
            if len(found) < PAGE:
                return


def snapshot(environment: Mapping[str, str], file: Path) -> None:
    """Download what the last snapshot job of the target branch has left."""
    gitlab = GitLab(environment, ("JOB-TOKEN", environment["CI_JOB_TOKEN"]))
    ref = quote(environment["CI_MERGE_REQUEST_TARGET_BRANCH_NAME"], safe="")
    path = f"{gitlab.project}/jobs/artifacts/{ref}/raw/snapshot.json?job=pic-snapshot"
    file.write_bytes(gitlab.ask("GET", path))


def comment(environment: Mapping[str, str], file: Path) -> None:
    """Post the report; where this bot has posted one of the same stack, edit that."""
    gitlab = GitLab(environment, ("PRIVATE-TOKEN", environment["PIC_COMMENT_TOKEN"]))
    text = file.read_text(encoding="utf-8")
    marker, _, _ = text.partition("\n")
    me = json.loads(gitlab.ask("GET", "user"))["id"]
    notes = f"{gitlab.project}/merge_requests/{environment['CI_MERGE_REQUEST_IID']}/notes"
    for note in gitlab.notes(notes):
        if note["author"]["id"] == me and note["body"].startswith(marker):
            gitlab.ask("PUT", f"{notes}/{note['id']}", {"body": text})
            return
    gitlab.ask("POST", notes, {"body": text})


if __name__ == "__main__":
    {"snapshot": snapshot, "comment": comment}[sys.argv[1]](os.environ, Path(sys.argv[2]))
