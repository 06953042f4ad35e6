"""Tests that a host is blocked in Pangolin before its object is deleted."""

import asyncio
import contextlib
from collections.abc import Callable

import pytest

from pic.cluster.listing import StatusError
from pic.core.json_values import Raw
from pic.core.names import STACK_LABEL
from pic.engine import unpublishing
from pic.engine.hooks import Hooks, RunContext
from pic.planning.ownership import Ownership
from tests.support import engine
from tests.support.hooks import OBJECT_PATH, STACK, OneObjectTransport, hook_args, inputs

BLOCKING = (
    "PATCH",
    f"{OBJECT_PATH}?fieldManager=pic",
    {"spec": {"httpConfig": {"blockAccess": True}}},
)
WAY_OUT = "pic:unpublish off deletes it without"
UNCONFIRMED = (
    "PangolinResource prod/pic-web is not deleted: blockAccess is set, but the operator has not"
    " confirmed it within 0.05 s, so the host may still be public: check that the operator runs,"
    f" then run pic again; {WAY_OUT}"
)
GONE = StatusError(404, "not found")
READY = {"status": "Ready", "observedGeneration": 2}


class Cluster(OneObjectTransport):
    """Has one object of ours, whose operator answers with one status after the other."""

    def __init__(self, *statuses: dict[str, object], block: bool = False, crd: bool = True) -> None:
        super().__init__(None)
        self.statuses = list(statuses)
        self.block, self.crd = block, crd
        self.generation = 1
        self.metadata: dict[str, object] = {}

    def get(self, path: str) -> object:
        assert path == OBJECT_PATH
        if self.requests and self.statuses == []:
            raise GONE
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        return self.body(status)

    def body(self, status: object) -> dict[str, object]:
        labels = {STACK_LABEL: STACK}
        metadata = {"namespace": "prod", "name": "pic-web", "labels": labels, **self.metadata}
        return {
            "metadata": {**metadata, "generation": self.generation},
            "spec": {"httpConfig": {"blockAccess": self.block}},
            "status": status,
        }

    def request(self, method: str, path: str, body: object) -> object:
        super().request(method, path, body)
        if self.crd:
            self.block, self.generation = True, 2
        return self.body({"status": "Ready", "observedGeneration": 1})


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpublishing, "PAUSE_SECONDS", 0.001)


def before_delete(cluster: OneObjectTransport, *, unpublish: bool = True) -> str | None:
    """Call the hook before a deletion, and return its error."""

    async def program() -> None:
        hooks = Hooks(deadline=1, unpublish_seconds=0.05)
        context = RunContext(cluster, Ownership(STACK), events=False, unpublish=unpublish)
        hooks.bind(context)
        await hooks.check_owner(hook_args(old_inputs=inputs()))

    error = engine.run(program).error
    return None if error is None else str(error)


def test_a_host_is_blocked_before_its_object_goes() -> None:
    earlier = {"status": "Ready", "observedGeneration": 1}
    cluster = Cluster(earlier, earlier, {"status": "Creating"}, READY)

    assert (before_delete(cluster), cluster.requests) == (None, [BLOCKING])
    assert cluster.statuses == [READY]


def test_without_the_setting_nothing_is_blocked() -> None:
    cluster = Cluster(READY)

    assert (before_delete(cluster, unpublish=False), cluster.requests) == (None, [])


def test_a_host_that_is_blocked_already_is_not_written_again() -> None:
    cluster = Cluster({"status": "Ready", "observedGeneration": 1}, block=True)

    assert (before_delete(cluster), cluster.requests) == (None, [])


@pytest.mark.parametrize(
    "status",
    [
        {},
        {"status": "Ready"},
        {"status": "Ready", "observedGeneration": 1},
        {"status": "Error", "observedGeneration": 2},
        {**READY, "blockAccessEnabled": False},
    ],
)
def test_without_the_confirmation_of_the_operator_nothing_is_deleted(
    status: dict[str, object],
) -> None:
    cluster = Cluster(status)

    assert (before_delete(cluster), cluster.requests) == (UNCONFIRMED, [BLOCKING])


def test_a_request_that_swallows_a_cancellation_does_not_wait_for_ever() -> None:
    async def stubborn(job: Callable[[], Raw | None]) -> Raw | None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(0.01)
        return job()

    cluster = Cluster({"status": "Error", "observedGeneration": 2})
    unpublisher = unpublishing.Unpublisher(cluster, OBJECT_PATH, "prod/pic-web", stubborn, 0.05)

    with pytest.raises(RuntimeError) as caught:
        asyncio.run(unpublisher.block(cluster.body({})))

    assert str(caught.value) == UNCONFIRMED


def test_an_older_crd_cannot_block_a_host_so_its_object_stays() -> None:
    cluster = Cluster(READY, crd=False)

    assert before_delete(cluster) == (
        "PangolinResource prod/pic-web is not deleted: the installed CRD has no blockAccess, so its"
        f" host cannot be blocked first; {WAY_OUT}"
    )


def test_an_object_that_is_going_already_is_not_blocked() -> None:
    cluster = Cluster(READY)
    cluster.metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"

    assert (before_delete(cluster), cluster.requests) == (None, [])


def test_an_object_that_goes_meanwhile_needs_no_block() -> None:
    class Vanishing(Cluster):
        def get(self, path: str) -> object:
            body = super().get(path)
            self.statuses = []
            return body

    assert before_delete(Vanishing(READY)) is None

    class Vanished(Cluster):
        def request(self, method: str, path: str, body: object) -> object:
            super().request(method, path, body)
            raise GONE

    assert before_delete(Vanished(READY)) is None


def test_a_refusal_of_the_api_server_stops_the_deletion() -> None:
    cluster = Cluster(READY)
    cluster.refusals.append(StatusError(403, "forbidden"))

    assert before_delete(cluster) == "forbidden"


def test_the_event_says_that_the_host_was_blocked() -> None:
    transport = OneObjectTransport()

    async def program() -> None:
        hooks = Hooks(deadline=1)
        hooks.bind(RunContext(transport, Ownership(STACK), events=True, unpublish=True))
        await hooks.post_deleted(hook_args(old_inputs=inputs()))

    assert engine.run(program).error is None
    [(_, _, event)] = transport.requests
    assert event["message"] == (
        "app.example.com is blocked and no longer declared: deleted PangolinResource prod/pic-web"
    )
