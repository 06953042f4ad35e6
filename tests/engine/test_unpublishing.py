"""Tests that `pic:unpublish: block` has the operator block a host before its object goes."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from dev.controlplane.api import RefusedError
from tests.engine.stage import Object, Stage


class Operator:
    """Confirms each change of an object, and records what the specs asked for."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.blocks: dict[str, list[bool]] = {}
        self._end = threading.Event()

    @contextmanager
    def running(self) -> Iterator[None]:
        thread = threading.Thread(target=self._run, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._end.set()
            thread.join()

    def _run(self) -> None:
        while not self._end.wait(0.05):
            for live in self.stage.objects():
                generation = live["metadata"]["generation"]
                if live.get("status", {}).get("observedGeneration") != generation:
                    self._confirm(live, generation)

    def _confirm(self, live: Object, generation: int) -> None:
        blocks = self.blocks.setdefault(live["spec"]["name"], [])
        blocks.append(live["spec"]["httpConfig"]["blockAccess"])
        status = {"status": {"status": "Ready", "observedGeneration": generation}}
        name = live["metadata"]["name"]
        try:
            self.stage.cluster.patch("PangolinResource", self.stage.name, name, status, "/status")
        except RefusedError as error:
            if error.status != 404:  # 404: the object was deleted meanwhile
                raise


def test_the_operator_blocks_a_host_before_its_object_goes(stage: Stage) -> None:
    stage.settings(unpublish="block", ownerReferences=False)
    stage.ingress("stays", "stays")
    stage.ingress("goes", "goes")
    operator = Operator(stage)
    with operator.running():
        assert stage.pic("up").code == 0
        stage.cluster.delete("Ingress", stage.name, "goes")

        answer = stage.pic("up")

    assert (answer.code, answer.err) == (0, "")
    assert operator.blocks == {stage.host("stays"): [False], stage.host("goes"): [False, True]}
    assert [live["spec"]["name"] for live in stage.objects()] == [stage.host("stays")]
    [message] = [message for _, reason, message in stage.events() if reason == "Deleted"]
    assert message.startswith(f"{stage.host('goes')} is blocked and no longer declared: deleted")


def test_an_operator_that_has_confirmed_nothing_yet_does_not_hinder_a_change(stage: Stage) -> None:
    stage.settings(unpublish="block", ownerReferences=False)
    stage.ingress("web", "web")
    assert stage.pic("up").code == 0
    stage.ingress("web", "web", paths=("/shop",))

    answer = stage.pic("up")

    assert (answer.code, answer.err) == (0, "")
    assert [target["path"] for target in stage.object("web")["spec"]["targets"]] == ["^/shop(/|$)"]
