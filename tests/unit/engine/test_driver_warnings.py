"""Tests when new warnings alone are a reason to run the engine."""

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
from tests.support.deployed import CLUSTER, A, UnusedTransport, make_state, wanted
from tests.support.driving import ignore
from tests.support.fakes import FakeEngine, outputs_of, unchanged_situation


class EventRecorder(UnusedTransport):
    """An API server that records the messages of Events."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def now(self) -> str:
        return "2026-11-28T12:00:00Z"

    def request(self, method: str, path: str, body: Any) -> object:
        assert (method, path) == ("POST", "/api/v1/namespaces/prod/events")
        self.messages.append(body["message"])
        return body


def warned(transport: EventRecorder, *messages: str, settings: Settings | None = None) -> Situation:
    """Return an unchanged situation with warnings about an Ingress."""
    situation = unchanged_situation(A, settings=settings)
    about = Ref("Ingress", "prod", "web")
    reasons = (Reason.EMPTY_HOST, Reason.INVALID_HOST)
    notices = tuple(Notice(*values) for values in zip(reasons, [about] * 2, messages, strict=False))
    return replace(
        situation,
        transport=transport,
        plan=Plan(situation.plan.resources, notices=notices),
        snapshot=replace(situation.snapshot, ingresses=(Ingress("prod", "web", "uid-1"),)),
    )


def test_a_new_warning_alone_is_posted_and_stored_in_the_outputs(tmp_path: Path) -> None:
    api = EventRecorder()
    before, after = warned(api, "one"), warned(api, "one", "two")
    outputs = {**outputs_of(before), "told": event_texts.digests(before.warnings)}
    engine = FakeEngine(tmp_path, outputs, make_state(wanted(A)))

    driver.up(engine, after, ignore)

    assert engine.log == ["exclusive", "outputs", "state", ("up", {A: ""}), "done"]
    assert api.messages == ["two"]


def test_reported_warnings_need_no_engine(tmp_path: Path) -> None:
    situation = warned(EventRecorder(), "one", "two")
    engine = FakeEngine(
        tmp_path, {**outputs_of(situation), "told": event_texts.digests(situation.warnings)}
    )

    driver.up(engine, situation, ignore)

    assert engine.log == ["exclusive", "outputs", "done"]


def test_with_events_off_a_warning_needs_no_engine(tmp_path: Path) -> None:
    quiet = Settings(cluster_id=CLUSTER, events=False)
    situation = warned(EventRecorder(), "one", settings=quiet)
    engine = FakeEngine(tmp_path, outputs_of(situation))

    driver.up(engine, situation, ignore)

    assert engine.log == ["exclusive", "outputs", "done"]


def test_hooks_without_a_context_post_nothing() -> None:
    unposted: list[int] = []

    async def program() -> None:
        unposted.append(await Hooks().warn(warned(EventRecorder(), "one").warnings))

    assert (mocks.run(program).error, unposted) == (None, [1])
