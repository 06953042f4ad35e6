"""Tests what a deployment reports if Pi-hole did not answer."""

import argparse

import pytest

from pic.cli import deploying
from pic.core.errors import PiholeError
from pic.engine.outcome import Outcome
from pic.engine.result import DeployResult
from tests.support.deploying import Capture
from tests.support.fakes import unchanged_situation

UNREACHABLE = PiholeError("Pi-hole does not answer")
OPTIONS = argparse.Namespace(log_format=None)


@pytest.mark.parametrize(
    ("outcome", "printed"),
    [(None, ""), (Outcome(), "Done: nothing changed.\n")],
)
def test_a_run_without_an_answer_of_pi_hole_does_the_rest_and_then_fails(
    capsys: Capture, outcome: Outcome | None, printed: str
) -> None:
    situation = unchanged_situation()

    with pytest.raises(PiholeError) as caught:
        deploying.conclude(
            OPTIONS, situation, DeployResult(situation.changes, outcome, {"pihole": UNREACHABLE})
        )

    assert (caught.value, capsys.readouterr().out) == (UNREACHABLE, printed)
