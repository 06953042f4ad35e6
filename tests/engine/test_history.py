"""Tests what `pic history` reads from the backend of a real engine."""

import json

from pic.planning.annotations import PREFIX
from tests.engine.stage import Stage


def test_the_history_says_who_exposed_changed_and_removed_a_host(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.ingress("old", "old")
    assert stage.pic("up", PIC_ACTOR="alice", PIC_COMMIT="abc").code == 0
    stage.ingress("web", "www", annotations={f"{PREFIX}sso": "true"})
    stage.ingress("old", "old", class_name="nginx")
    assert stage.pic("up", PIC_ACTOR="bob").code == 0

    history = json.loads(stage.pic("history", "--output", "json").out)

    told = [
        (
            it["host"],
            it["what"],
            it["access"],
            it["deployment"]["actor"],
            it["deployment"]["commit"],
        )
        for it in history["history"]
    ]
    assert sorted(told) == sorted(
        [
            (stage.host("www"), "changed", "login", "bob", told[0][4]),
            (stage.host("old"), "removed", None, "bob", told[0][4]),
            (stage.host("www"), "exposed", "public", "alice", "abc"),
            (stage.host("old"), "exposed", "public", "alice", "abc"),
        ]
    )
