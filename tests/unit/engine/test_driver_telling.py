"""Warnings at Ingresses: when a run has the engine only to remember that they were told."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from pic.core.ingress import Ingress
from pic.core.model import Plan
from pic.core.notices import Notice, Reason, Ref
from pic.engine import driver
from pic.engine.hooks import Hooks
from pic.report import event_texts
from pic.run.situation import Situation
from pic.settings.parse import Settings
from tests.support import engine as mocks
from tests.support.deployed import (
    CLUSTER,
    A,
    NoApi,
    state,
    wanted,
)
from tests.support.fakes import FakeEngine, outputs_of, unchanged_situation


class Posting(NoApi):
    """An API server that takes Events."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def request(self, method: str, path: str, body: Any) -> object:
        assert (method, path) == ("POST", "/api/v1/namespaces/prod/events")
        self.told.append(body["message"])
        return body


def warned(transport: Posting, *messages: str, settings: Settings | None = None) -> Situation:
    """What is found when nothing is to be done, and an Ingress is warned of."""
    known = unchanged_situation(A, settings=settings)
    about = Ref("Ingress", "prod", "web")
    reasons = (Reason.EMPTY_HOST, Reason.INVALID_HOST)
    notices = tuple(Notice(*each) for each in zip(reasons, [about] * 2, messages, strict=False))
    return replace(
        known,
        transport=transport,
        plan=Plan(known.plan.resources, notices=notices),
        snapshot=replace(known.snapshot, ingresses=(Ingress("prod", "web", "uid-1"),)),
    )


def silent(_: str) -> None:
    """Tell nobody."""


def test_a_new_warning_alone_is_told_and_remembered_by_the_engine(tmp_path: Path) -> None:
    api = Posting()
    before, after = warned(api, "one"), warned(api, "one", "two")
    known = {**outputs_of(before), "told": event_texts.digests(before.warnings)}
    engine = FakeEngine(tmp_path, known, state(wanted(A)))

    driver.up(engine, after, silent)

    assert engine.log == ["exclusive", "outputs", "state", ("up", {A: ""}), "done"]
    assert api.told == ["two"]


def test_warnings_that_were_told_need_no_engine(tmp_path: Path) -> None:
    known = warned(Posting(), "one", "two")
    engine = FakeEngine(
        tmp_path, {**outputs_of(known), "told": event_texts.digests(known.warnings)}
    )

    driver.up(engine, known, silent)

    assert engine.log == ["exclusive", "outputs", "done"]


def test_without_events_warnings_change_nothing(tmp_path: Path) -> None:
    quiet = Settings(cluster_id=CLUSTER, events=False)
    known = warned(Posting(), "one", settings=quiet)
    engine = FakeEngine(tmp_path, outputs_of(known))

    driver.up(engine, known, silent)

    assert engine.log == ["exclusive", "outputs", "done"]


def test_hooks_that_know_no_cluster_tell_nobody() -> None:
    found: list[int] = []

    async def program() -> None:
        found.append(await Hooks().warn(warned(Posting(), "one").warnings))

    assert (mocks.run(program).error, found) == (None, [1])
