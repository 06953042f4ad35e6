"""Decides what an answer of Pangolin means: its data, or an error that names the remedy."""

import re

from pic.core.errors import FailureClass, PangolinError
from pic.core.json_values import MalformedError, Raw, mapping, text
from pic.pangolin_api.connection import KEY, Answer
from pic.pangolin_api.errors import ConflictError, GoneError, NoRouteError

_LONGEST_QUOTE = 200  # characters of a message of Pangolin
_WHERE = "in the dashboard of Pangolin under Organization > API Keys"

_REMEDIES = {
    FailureClass.RATE_LIMITED: ". Wait before the next run",
    FailureClass.TEMPORARY: ". See the log of Pangolin, and run pic again",
}


def data(answer: Answer, request: str, action: str) -> Raw:
    """Return the data of a successful answer.

    Args:
        answer: The answer.
        request: The method and the path, for messages.
        action: The action of the key that the route wants, such as `createResource`.

    Raises:
        PangolinError: The request failed, or the answer is not of Pangolin.
    """
    if answer.status >= 400:
        raise _error(answer, request, action)
    if answer.body is None:
        raise PangolinError(
            f"the answer to {request} is not JSON: {answer.text!r}. Set pic:pangolinUrl to the URL"
            " of the Integration API, not of the dashboard",
            kind=FailureClass.INVALID,
        )
    try:
        return mapping(answer.body.get("data"), "data")
    except MalformedError as error:
        raise broken(request, str(error)) from error


def broken(request: str, problem: str) -> PangolinError:
    """Return the error for an answer with a form that pic does not know."""
    return PangolinError(
        f"the answer to {request} is not as pic knows it: {problem}. Check the version of Pangolin",
        kind=FailureClass.INVALID,
    )


def _error(answer: Answer, request: str, action: str) -> PangolinError:
    if answer.body is None and answer.status == 404:
        return NoRouteError(
            f"{request} is no route of this server (404, not JSON). Check that pic:pangolinUrl is"
            " the URL of the Integration API, and the version of Pangolin",
            kind=FailureClass.INVALID,
        )
    message = _message(answer)
    if answer.status == 401:
        return PangolinError(
            f"Pangolin does not accept the key in {KEY} ({message}): create another one {_WHERE}",
            kind=FailureClass.AUTH,
        )
    if answer.status == 403:
        return _forbidden(message, action)
    classes = {404: GoneError, 409: ConflictError}
    kind = _kind(answer.status)
    return classes.get(answer.status, PangolinError)(
        f"Pangolin answers {request} with {answer.status}: {message}{_REMEDIES.get(kind, '')}",
        kind=kind,
        retry_after=answer.retry_after,
    )


def _kind(status: int) -> FailureClass:
    if status == 429:
        return FailureClass.RATE_LIMITED
    return FailureClass.TEMPORARY if status >= 500 else FailureClass.INVALID


def _forbidden(message: str, action: str) -> PangolinError:
    if "permission" in message:
        label = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", action).title()
        remedy = f'the key in {KEY} may not {action}: tick "{label}" for it {_WHERE}'
    elif "organization" in message or "root access" in message:
        remedy = (
            f"the key in {KEY} has no access here ({message}): set pic:pangolinOrg to the"
            " organisation of the key, or use a key of that organisation"
        )
    else:
        remedy = f"Pangolin refuses {action}: {message}"
        return PangolinError(remedy, kind=FailureClass.INVALID)
    return PangolinError(remedy, kind=FailureClass.AUTH)


def _message(answer: Answer) -> str:
    message = text(answer.body.get("message")) if answer.body else answer.text
    return " ".join(message.split())[:_LONGEST_QUOTE] or "no message"
