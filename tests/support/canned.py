"""Answers requests to the API server with canned answers."""

from collections.abc import Mapping


class Canned:
    """A transport with canned answers, by path; a `#` and the continue token follow the path."""

    def __init__(self, answers: Mapping[str, object]) -> None:
        self.answers = dict(answers)
        self.requests: list[str] = []

    def get(self, path: str) -> object:
        self.requests.append(path)
        bare, _, query = path.partition("?")
        answer = self.answers[f"{bare}#{query.partition('continue=')[2]}" if query else bare]
        if isinstance(answer, list):
            answer = answer.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def now(self) -> str:
        return "2026-11-28T12:00:00Z"

    def request(self, method: str, path: str, body: object) -> object:
        raise NotImplementedError


def page(kind: str, *names: str, next_page: str | None = None) -> dict[str, object]:
    metadata = {} if next_page is None else {"continue": next_page}
    return {
        "kind": kind,
        "metadata": metadata,
        "items": [{"metadata": {"name": name}} for name in names],
    }


def named(*names: str) -> list[dict[str, object]]:
    return [{"metadata": {"name": name}} for name in names]
