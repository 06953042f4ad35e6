"""Each answer of Pangolin becomes data, or an error with a class and a remedy."""

import pytest

from pic.core.errors import FailureClass, PangolinError
from pic.pangolin_api.answers import data
from pic.pangolin_api.connection import Answer
from pic.pangolin_api.errors import ConflictError, GoneError, NoRouteError
from tests.support.pangolin_client import fails

INVALID, AUTH = FailureClass.INVALID, FailureClass.AUTH


@pytest.mark.parametrize(
    ("status", "message", "kind", "part"),
    [
        (400, "Validation error", INVALID, "answers GET /x with 400: Validation error"),
        (401, "Invalid API key", AUTH, "does not accept the key in PANGOLIN_API_KEY"),
        (402, "too many", INVALID, "with 402: too many"),
        (
            403,
            "Key does not have permission perform this action",
            AUTH,
            'may not listOrgDomains: tick "List Org Domains" for it in the dashboard',
        ),
        (403, "Key does not have access to this organization", AUTH, "set pic:pangolinOrg"),
        (403, "Key does not have root access", AUTH, "set pic:pangolinOrg"),
        (403, "not supported on your current plan", INVALID, "refuses listOrgDomains: not supp"),
        (404, "not found", INVALID, "with 404: not found"),
        (409, "exists", INVALID, "with 409: exists"),
        (429, "", FailureClass.RATE_LIMITED, "with 429: no message. Wait before"),
        (500, "An  error\noccurred", FailureClass.TEMPORARY, "500: An error occurred. See the log"),
    ],
)
def test_an_error_has_a_class_and_a_remedy(
    status: int, message: str, kind: FailureClass, part: str
) -> None:
    with fails(kind, part):
        data(Answer(status, {"message": message}), "GET /x", "listOrgDomains")


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Answer(404, {}), GoneError),
        (Answer(404, None, "<html>"), NoRouteError),
        (Answer(409, {}), ConflictError),
    ],
)
def test_gone_taken_and_no_such_route_are_told_apart(
    answer: Answer, error: type[PangolinError]
) -> None:
    with pytest.raises(error):
        data(answer, "GET /x", "")


def test_an_answer_of_the_dashboard_is_no_data() -> None:
    with fails(INVALID, "is not JSON: '<html>'", "not of the dashboard"):
        data(Answer(200, None, "<html>"), "GET /x", "")


def test_data_of_another_form_is_reported() -> None:
    with fails(INVALID, "data is a list, not a map", "Check the version of Pangolin"):
        data(Answer(200, {"data": []}), "GET /x", "")


def test_a_pause_is_passed_on() -> None:
    with pytest.raises(PangolinError) as caught:
        data(Answer(429, {}, retry_after=7), "GET /x", "")
    assert caught.value.retry_after == 7


def test_data_is_returned() -> None:
    assert data(Answer(200, {"data": {"a": 1}}), "GET /x", "") == {"a": 1}
    assert data(Answer(200, {"data": None}), "GET /x", "") == {}
