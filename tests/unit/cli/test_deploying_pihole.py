"""What the verbs that deploy say of a Pi-hole that did not answer."""

import argparse

import pytest

from pic.cli import deploying
from pic.core.errors import PiholeError
from pic.engine.driver import DeployResult
from pic.engine.outcome import Outcome
from tests.support.deploying import Capture
from tests.support.fakes import unchanged_situation

AWAY = PiholeError("it is away")
OPTIONS = argparse.Namespace(log_format=None)


@pytest.mark.parametrize(
    ("outcome", "printed"),
    [(None, ""), (Outcome(), "Done: nothing had to be changed.\n")],
)
def test_a_pihole_that_did_not_answer_is_the_error_of_a_run_that_did_the_rest(
    capsys: Capture, outcome: Outcome | None, printed: str
) -> None:
    known = unchanged_situation()

    with pytest.raises(PiholeError) as caught:
        deploying.conclude(OPTIONS, known, DeployResult(known.changes, outcome, {"pihole": AWAY}))

    assert (caught.value, capsys.readouterr().out) == (AWAY, printed)
