import pytest

from pic.core.errors import FailureClass
from pic.pihole.answers import (
    APP_SESSION_READS_ONLY,
    CLI_SESSION_READS_ONLY,
    ENVIRONMENT,
    RATE,
    READ_ONLY,
    SEATS,
    WRONG_PASSWORD,
    complaint,
    position,
    refusal,
)
from pic.pihole.http import Response
from tests.support.pihole_fakes import Details, details


def error(status: int, key: str, message: str, hint: str | None = None) -> Response:
    return Response(status, {"error": {"key": key, "message": message, "hint": hint}})


READ = "Unable to change configuration (read-only)"
CLI = "The current CLI session is not allowed to modify Pi-hole config settings"
APP = "The current app session is not allowed to … (webserver.api.app_sudo is false)"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (error(401, "unauthorized", "Unauthorized"), (FailureClass.AUTH, None, WRONG_PASSWORD)),
        (error(403, "forbidden", READ, APP), (FailureClass.AUTH, None, APP_SESSION_READS_ONLY)),
        (error(403, "forbidden", READ, CLI), (FailureClass.AUTH, None, CLI_SESSION_READS_ONLY)),
        (
            error(403, "forbidden", "The config is currently in read-only mode"),
            (FailureClass.AUTH, None, READ_ONLY),
        ),
        (
            error(403, "forbidden", "Something else"),
            (
                FailureClass.AUTH,
                None,
                "writing is forbidden: Pi-hole answered 403 (Something else)",
            ),
        ),
        (
            error(
                400, "bad_request", "Config items set via environment variables cannot be changed"
            ),
            (FailureClass.INVALID, None, ENVIRONMENT),
        ),
        (
            Response(400, text="Malformed message"),
            (
                FailureClass.INVALID,
                None,
                "writing failed: Pi-hole answered 400 (Malformed message)",
            ),
        ),
        (
            Response(404, {"took": 0.1}),
            (FailureClass.TEMPORARY, None, "writing failed: Pi-hole answered 404"),
        ),
        (
            error(500, "internal_error", "Cannot write", "disk full"),
            (
                FailureClass.TEMPORARY,
                None,
                "writing failed: Pi-hole answered 500 (Cannot write) (disk full)",
            ),
        ),
        (
            error(429, "rate_limiting", "Rate-limiting login attempts"),
            (FailureClass.RATE_LIMITED, 60, RATE),
        ),
        (
            error(429, "api_seats_exceeded", "API seats exceeded"),
            (FailureClass.RATE_LIMITED, 60, SEATS),
        ),
        (Response(429, {"error": "odd"}), (FailureClass.RATE_LIMITED, 60, RATE)),
    ],
)
def test_each_unsuccessful_answer_has_an_error_with_its_class(
    answer: Response, expected: Details
) -> None:
    assert details(refusal(answer, "writing")) == expected


@pytest.mark.parametrize(
    ("hint", "at", "problem"),
    [
        ('dns.hosts[6]: invalid hostname ("a..b")', 6, 'invalid hostname ("a..b")'),
        (
            'dns.hosts[0]: invalid hostname ("#")',
            0,
            'invalid hostname ("#"); Pi-hole before v6.0.3 accepts no comments: update it',
        ),
        ("dns.hosts", None, "dns.hosts"),
        (None, None, ""),
    ],
)
def test_a_hint_may_name_the_line_that_is_wrong(
    hint: str | None, at: int | None, problem: str
) -> None:
    answer = error(400, "bad_request", "Invalid value", hint)

    assert (position(answer), complaint(answer)) == (at, problem)
