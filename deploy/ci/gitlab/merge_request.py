# ruff: noqa: INP001 - a script of its own
"""Downloads the snapshot and posts the comment for a merge-request job. Uses only the stdlib.

python merge_request.py snapshot FILE   downloads the snapshot of the target branch
python merge_request.py comment FILE    posts the report, or edits the earlier comment
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
    """A client of the GitLab API that uses one token.

    Attributes:
        token: The name and the value of the HTTP header that carries the token.
    """

    def __init__(self, environment: Mapping[str, str], token: tuple[str, str]) -> None:
        project = environment["CI_MERGE_REQUEST_PROJECT_ID"]
        self.server = environment["CI_API_V4_URL"]
        self.project = f"projects/{project}"
        self.token = token

    def ask(self, method: str, path: str, body: object = None) -> bytes:
        """Send a request and return the body of the answer.

        Raises:
            OSError: GitLab did not answer, or answered with an error.
        """
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(  # noqa: S310 - the address is the job's own server
            f"{self.server}/{path}", data, {"Content-Type": "application/json"}, method=method
        )
        # GitLab redirects downloads to an object store, which must not see the token.
        request.add_unredirected_header(*self.token)
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310
            content: bytes = answer.read()
        return content

    def notes(self, path: str) -> Iterator[dict[str, Any]]:
        """Yield all comments of a merge request."""
        for page in count(1):
            query = urlencode({"per_page": PAGE, "page": page})
            notes = json.loads(self.ask("GET", f"{path}?{query}"))
            yield from notes
            if len(notes) < PAGE:
                return


def snapshot(environment: Mapping[str, str], file: Path) -> None:
    """Download the artifact of the latest snapshot job on the target branch."""
    gitlab = GitLab(environment, ("JOB-TOKEN", environment["CI_JOB_TOKEN"]))
    ref = quote(environment["CI_MERGE_REQUEST_TARGET_BRANCH_NAME"], safe="")
    path = f"{gitlab.project}/jobs/artifacts/{ref}/raw/snapshot.json?job=pic-snapshot"
    file.write_bytes(gitlab.ask("GET", path))


def comment(environment: Mapping[str, str], file: Path) -> None:
    """Post the report, or edit the comment that this bot has posted for the same stack."""
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
