# ruff: noqa: INP001 - a script of its own
"""Downloads the snapshot for a merge request, and posts reports as comments. Uses only the stdlib.

python merge_request.py snapshot FILE   downloads the snapshot of the target branch
python merge_request.py comments        posts the report of each open merge request

The pipeline of a merge request runs code of its author, so it has no token but that of its own job.
A scheduled pipeline of the default branch takes the reports from the artifacts and posts them. It
runs no code of a merge request, and takes a report only as text.
"""

import json
import os
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlencode

PAGE = 100
SECONDS = 30.0
# The author of a merge request chooses the size of its artifacts.
LONGEST = 1_000_000
JOB, REPORT = "pic-diff", "comment.md"
Json = dict[str, Any]


class GitLab:
    """A client of the GitLab API that uses one token.

    Attributes:
        project: The path of the project in the API.
        token: The name and the value of the HTTP header that carries the token.
    """

    def __init__(
        self, environment: Mapping[str, str], project: str, token: tuple[str, str]
    ) -> None:
        self.server = environment["CI_API_V4_URL"]
        self.project = f"projects/{project}"
        self.token = token

    def ask(self, method: str, path: str, body: object = None, longest: int = -1) -> bytes:
        """Send a request and return the body of the answer, or its first bytes.

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
            content: bytes = answer.read(longest)
        return content

    def items(self, path: str, **query: object) -> Iterator[Json]:
        """Yield the items of all pages of a list."""
        for page in count(1):
            words = urlencode({**query, "per_page": PAGE, "page": page})
            items = json.loads(self.ask("GET", f"{path}?{words}"))
            yield from items
            if len(items) < PAGE:
                return


def snapshot(environment: Mapping[str, str], file: Path) -> None:
    """Download the artifact of the latest snapshot job on the target branch."""
    project = environment["CI_MERGE_REQUEST_PROJECT_ID"]
    gitlab = GitLab(environment, project, ("JOB-TOKEN", environment["CI_JOB_TOKEN"]))
    ref = quote(environment["CI_MERGE_REQUEST_TARGET_BRANCH_NAME"], safe="")
    path = f"{gitlab.project}/jobs/artifacts/{ref}/raw/snapshot.json?job=pic-snapshot"
    file.write_bytes(gitlab.ask("GET", path))


def comments(environment: Mapping[str, str]) -> None:
    """Post the report of each open merge request into the default branch, or edit the comment."""
    project = environment["CI_PROJECT_ID"]
    gitlab = GitLab(environment, project, ("PRIVATE-TOKEN", environment["PIC_COMMENT_TOKEN"]))
    marker = f"<!-- pic:review:pic.{environment['STACK']} -->"
    me = json.loads(gitlab.ask("GET", "user"))["id"]
    requests = f"{gitlab.project}/merge_requests"
    target = environment["CI_DEFAULT_BRANCH"]
    for request in gitlab.items(requests, state="opened", target_branch=target):
        path = f"{requests}/{request['iid']}"
        text = _report(gitlab, path, project)
        if text.partition("\n")[0] == marker:
            _post(gitlab, f"{path}/notes", me, marker, text)


def _report(gitlab: GitLab, path: str, project: str) -> str:
    """Return the report of the latest pipeline of a merge request, or an empty text."""
    pipeline = next(gitlab.items(f"{path}/pipelines"), None)
    # The pipeline of a fork runs in the fork, whose owner can write any text into its artifacts.
    if pipeline is None or str(pipeline["project_id"]) != project:
        return ""
    jobs = gitlab.items(f"{gitlab.project}/pipelines/{pipeline['id']}/jobs")
    job = next((job for job in jobs if job["name"] == JOB), None)
    if job is None:
        return ""
    file = f"{gitlab.project}/jobs/{job['id']}/artifacts/{REPORT}"
    try:
        content = gitlab.ask("GET", file, longest=LONGEST)
    except HTTPError as error:
        # The job still runs, or it failed before it wrote a report.
        error.close()
        return ""
    return content.decode("utf-8", "replace")


def _post(gitlab: GitLab, notes: str, author: int, marker: str, text: str) -> None:
    """Post a text, or edit the comment that this bot has posted for the same stack."""
    for note in gitlab.items(notes):
        if note["author"]["id"] == author and note["body"].startswith(marker):
            if note["body"].strip() != text.strip():
                gitlab.ask("PUT", f"{notes}/{note['id']}", {"body": text})
            return
    gitlab.ask("POST", notes, {"body": text})


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["snapshot", name]:
            snapshot(os.environ, Path(name))
        case ["comments"]:
            comments(os.environ)
        case _:
            sys.exit(__doc__)
