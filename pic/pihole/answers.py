"""What the answers of Pi-hole v6 mean for whoever runs it, each with its remedy. No I/O."""

import re

from pic.core.errors import FailureClass, PiholeError
from pic.core.json_values import Raw, text
from pic.pihole.http import Response

WAIT = 60  # seconds
_AT = re.compile(r"dns\.hosts\[([0-9]+)\]")

_HOW_TO = (
    "In its web interface, Settings, Web interface / API, expert mode, Configure app password makes"
    " one"
)
WRONG_PASSWORD = (
    "Pi-hole does not accept the password. Set PIHOLE_PASSWORD to its web password or to an app"
    f" password. {_HOW_TO}"
)
SECOND_FACTOR = (
    "Pi-hole asks for a second factor, which a program does not have. Set PIHOLE_PASSWORD to an app"
    f" password, which needs none. {_HOW_TO}"
)
APP_MAY_NOT = (
    "Pi-hole lets app passwords only read. Switch on webserver.api.app_sudo in Settings, All"
    " settings, or set PIHOLE_PASSWORD to the web password"
)
CLI_MAY_NOT = (
    "Pi-hole never lets its CLI password write. Set PIHOLE_PASSWORD to the web password or to an"
    " app password"
)
READ_ONLY = (
    "Pi-hole is read-only: misc.readOnly is set in its pihole.toml, and what is written would be"
    " lost at its next start. Take that line out, and restart it"
)
ENVIRONMENT = (
    "the local DNS records of Pi-hole are set by the variable FTLCONF_dns_hosts of its container,"
    " so nobody can change them. Take it out, and restart the container"
)
SEATS = (
    "all sessions of Pi-hole's API are in use. They end 30 minutes after their last request; log"
    " out of some in Settings, Web interface / API, or raise webserver.api.max_sessions"
)
RATE = "Pi-hole refuses logins, because too many came within a second"


def refusal(answer: Response, doing: str) -> PiholeError:
    """Return what an answer that is no success means.

    Args:
        answer: Of any status from 400 on.
        doing: What was asked for, as in `reading its records`.
    """
    match answer.status:
        case 400:
            return _invalid(answer, doing)
        case 401:
            return PiholeError(WRONG_PASSWORD, kind=FailureClass.AUTH)
        case 403:
            return _forbidden(answer, doing)
        case 429:
            return crowded(answer)
        case _:
            return PiholeError(f"{doing} failed: Pi-hole answered {_said(answer)}")


def crowded(answer: Response) -> PiholeError:
    """Return what a 429 means: too many sessions, or too many logins."""
    seats = error_key(answer) == "api_seats_exceeded"
    return PiholeError(SEATS if seats else RATE, kind=FailureClass.RATE_LIMITED, retry_after=WAIT)


def error_key(answer: Response) -> str:
    """Return Pi-hole's own word for an error; empty where it has none."""
    return text(_error(answer).get("key"))


def error_message(answer: Response) -> str:
    """Return what Pi-hole says of an error; empty where it says nothing."""
    return text(_error(answer).get("message"))


def position(answer: Response) -> int | None:
    """Return which line of the list Pi-hole finds fault with."""
    found = _AT.search(text(_error(answer).get("hint")))
    return int(found[1]) if found else None


def complaint(answer: Response) -> str:
    """Return what is wrong with that line, in Pi-hole's words."""
    hint = text(_error(answer).get("hint"))
    old = "; Pi-hole before v6.0.3 takes no comments: update it" if '("#' in hint else ""
    return _AT.sub("", hint).removeprefix(": ") + old


def _invalid(answer: Response, doing: str) -> PiholeError:
    if "environment variable" in error_message(answer):
        return PiholeError(ENVIRONMENT, kind=FailureClass.INVALID)
    return PiholeError(
        f"{doing} failed: Pi-hole answered {_said(answer)}", kind=FailureClass.INVALID
    )


def _forbidden(answer: Response, doing: str) -> PiholeError:
    hint, message = text(_error(answer).get("hint")), error_message(answer)
    for sign, remedy in (
        ("app_sudo" in hint, APP_MAY_NOT),
        ("CLI session" in hint, CLI_MAY_NOT),
        ("read-only mode" in message, READ_ONLY),
    ):
        if sign:
            return PiholeError(remedy, kind=FailureClass.AUTH)
    return PiholeError(
        f"{doing} is forbidden: Pi-hole answered {_said(answer)}", kind=FailureClass.AUTH
    )


def _error(answer: Response) -> Raw:
    error = answer.data.get("error")
    return error if isinstance(error, dict) else {}


def _said(answer: Response) -> str:
    error = _error(answer)
    parts = (text(error.get("message")), text(error.get("hint")), answer.text)
    return " ".join([str(answer.status), *(f"({part})" for part in parts if part)])
