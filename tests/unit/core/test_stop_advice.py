"""Tests that whatever stops an Ingress or a host has advice."""

import pytest

from pic.core.advice import ADVICE
from pic.core.held import Verdict
from pic.core.notices import Reason
from pic.core.sources import Ignored
from pic.core.stop_advice import IGNORED_ADVICE, advice_on


@pytest.mark.parametrize("ignored", Ignored)
def test_each_reason_to_ignore_an_ingress_has_advice(ignored: Ignored) -> None:
    assert advice_on(str(ignored)) is IGNORED_ADVICE[ignored]


@pytest.mark.parametrize("reason", Reason)
def test_a_reason_has_the_advice_of_its_notice(reason: Reason) -> None:
    assert advice_on(str(reason)) is ADVICE[reason]


@pytest.mark.parametrize("verdict", Verdict)
def test_a_verdict_has_the_advice_on_what_is_held(verdict: Verdict) -> None:
    outside = verdict is Verdict.OUTSIDE

    expected = Reason.LEFT_OUTSIDE if outside else Reason.HELD
    assert advice_on(str(verdict)) is ADVICE[expected]
