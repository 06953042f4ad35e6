"""Helps to test what the driver does with a fake engine."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from pic.cluster.listing import IDENTITY
from pic.core.errors import RefusedError
from pic.engine import driver
from pic.engine.outcome import Outcome
from pic.run.situation import Situation
from pic.run.stack_config import StackConfig
from pic.settings.parse import Settings
from tests.support.deployed import (
    CLUSTER,
    OURS,
    STACK,
    A,
    UnusedTransport,
    make_live,
    make_situation,
    wanted,
)
from tests.support.events import failure_event

FAILED_OUTCOME = Outcome()
FAILED_OUTCOME.add_line(failure_event(A))


class IdentityTransport(UnusedTransport):
    """An API server that only returns the id of its cluster."""

    def get(self, path: str) -> object:
        return {"metadata": {"uid": CLUSTER}} if path == IDENTITY else super().get(path)


def ignore(_: str) -> None:
    """Ignore a message of the driver."""


def refusal(action: Callable[[], object]) -> RefusedError:
    """Return the refusal that an action raises."""
    with pytest.raises(RefusedError) as caught:
        action()
    return caught.value


def situation_to_destroy(*hosts: str) -> Situation:
    """Return a situation in which the removal of everything is acknowledged."""
    resources = tuple(map(wanted, hosts))
    situation = make_situation(tuple(map(make_live, resources)), resources)
    settings = Settings(cluster_id=CLUSTER, acknowledge=driver.full_removal(situation).digest)
    config = StackConfig(settings, STACK, OURS, ())
    return replace(situation, config=config, transport=IdentityTransport())
