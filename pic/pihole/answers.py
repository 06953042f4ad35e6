"""Turns the refusals of Pi-hole v6 into errors that say what to do. No I/O."""

import re

from pic.core.errors import FailureClass, PiholeError
from pic.core.json_values import Raw, text
from pic.pihole.http import Response

# Seconds to wait after a 429, because Pi-hole sends no Retry-After header.
RETRY_AFTER = 60
# Pi-hole names a malformed line only by its position in the list, as in `dns.hosts[6]: …`.
_LINE_NUMBER = re.compile(r"dns\.hosts\[([0-9]+)\]")

_HOW_TO_CREATE_ONE = (
    "To create one, open the web interface of Pi-hole, go to Settings, Web interface / API, switch"
    " to expert mode, and choose Configure app password"
)
WRONG_PASSWORD = (
    "Pi-hole does not accept the password. Set PIHOLE_PASSWORD to its web password or to an app"
    f" password. {_HOW_TO_CREATE_ONE}"
)
SECOND_FACTOR = (
    "Pi-hole asks for a second factor, which a program cannot give. Set PIHOLE_PASSWORD to an app"
    f" password, which needs no second factor. {_HOW_TO_CREATE_ONE}"
)
APP_SESSION_READS_ONLY = (
    "Pi-hole allows app passwords to read only. Switch on webserver.api.app_sudo in Settings, All"
    " settings (or in FTLCONF_webserver_api_app_sudo, if its container has that variable), or set"
    " PIHOLE_PASSWORD to the web password"
)
APP_SUDO_BY_VARIABLE = (
    "Pi-hole allows app passwords to read only, since the variable FTLCONF_webserver_api_app_sudo"
    " of its container says so. Set the variable to true and restart the container, or set"
    " PIHOLE_PASSWORD to the web password"
)
CLI_SESSION_READS_ONLY = (
    "Pi-hole never allows its CLI password to write. Set PIHOLE_PASSWORD to the web password or to"
    " an app password"
)
READ_ONLY = (
    "Pi-hole is read-only: misc.readOnly is set in its pihole.toml, so it loses every change at its"
    " next start. Remove misc.readOnly and restart Pi-hole"
)
READ_ONLY_BY_VARIABLE = (
    "Pi-hole is read-only: the variable FTLCONF_misc_readOnly of its container says so, so Pi-hole"
    " loses every change at its next start. Remove the variable and restart the container"
)
ENVIRONMENT = (
    "the variable FTLCONF_dns_hosts of Pi-hole's container sets its local DNS records, so the API"
    " cannot change them. Remove the variable and restart the container"
)
SEATS = (
    "all sessions of Pi-hole's API are in use. A session ends 30 minutes after its last request."
    " Log out of some in Settings, Web interface / API, or raise webserver.api.max_sessions"
)
RATE = "Pi-hole refuses the login because too many logins came within a second"


def refusal(answer: Response, action: str) -> PiholeError:
    """Return the error that an unsuccessful answer stands for.

    Args:
        answer: An answer with a status of 400 or higher.
        action: What pic tried to do, as in `reading its records`.
    """
    match answer.status:
        case 400:
            return _invalid(answer, action)
        case 401:
            # The session has already logged in again, so this is not an expired session id.
            return PiholeError(WRONG_PASSWORD, kind=FailureClass.AUTH)
        case 403:
            return _forbidden(answer, action)
        case 429:
            return rate_limited(answer)
        case _:
            return PiholeError(f"{action} failed: Pi-hole answered {_quoted(answer)}")


def rate_limited(answer: Response) -> PiholeError:
    """Return the error that a 429 stands for: no free session, or too many logins."""
    message = SEATS if error_key(answer) == "api_seats_exceeded" else RATE
    return PiholeError(message, kind=FailureClass.RATE_LIMITED, retry_after=RETRY_AFTER)


def error_key(answer: Response) -> str:
    """Return the key of Pi-hole's error; empty if the answer has none."""
    return text(_error(answer).get("key"))


def error_message(answer: Response) -> str:
    """Return the message of Pi-hole's error; empty if the answer has none."""
    return text(_error(answer).get("message"))


def position(answer: Response) -> int | None:
    """Return the index of the line that Pi-hole complains about; None if it names no line."""
    match = _LINE_NUMBER.search(text(_error(answer).get("hint")))
    return int(match[1]) if match else None


def complaint(answer: Response) -> str:
    """Return what is wrong with the line that `position` names, in Pi-hole's words."""
    hint = text(_error(answer).get("hint"))
    # Versions before 6.0.3 take the comment of a line for a host name.
    advice = "; Pi-hole before v6.0.3 accepts no comments: update it" if '("#' in hint else ""
    return _LINE_NUMBER.sub("", hint).removeprefix(": ") + advice


def _invalid(answer: Response, action: str) -> PiholeError:
    if "environment variable" in error_message(answer):
        return PiholeError(ENVIRONMENT, kind=FailureClass.INVALID)
    return PiholeError(
        f"{action} failed: Pi-hole answered {_quoted(answer)}", kind=FailureClass.INVALID
    )


def _forbidden(answer: Response, action: str) -> PiholeError:
    hint, message = text(_error(answer).get("hint")), error_message(answer)
    # A 403 has three causes, and only the English text of the answer tells them apart.
    for applies, remedy in (
        ("app_sudo" in hint, APP_SESSION_READS_ONLY),
        ("CLI session" in hint, CLI_SESSION_READS_ONLY),
        ("read-only mode" in message, READ_ONLY),
    ):
        if applies:
            return PiholeError(remedy, kind=FailureClass.AUTH)
    return PiholeError(
        f"{action} is forbidden: Pi-hole answered {_quoted(answer)}", kind=FailureClass.AUTH
    )


def _error(answer: Response) -> Raw:
    # A wrong password gets a 401 without this object.
    error = answer.data.get("error")
    return error if isinstance(error, dict) else {}


def _quoted(answer: Response) -> str:
    error = _error(answer)
    parts = (text(error.get("message")), text(error.get("hint")), answer.text)
    return " ".join([str(answer.status), *(f"({part})" for part in parts if part)])
