"""Builds lines of events as the engine writes them with `pulumi … --json`."""

import json

from tests.support.deployed import urn


def event_line(kind: str, **event: object) -> str:
    """Return one event as a line of JSON."""
    body = {"sequence": 1, "timestamp": 1700000000, kind: event}
    return json.dumps(body, separators=(",", ":"))


def step_event(operation: str, resource_urn: str) -> str:
    """Return the event that begins a step of the engine."""
    metadata = {"op": operation, "urn": resource_urn, "new": {"id": "x"}}
    return event_line("resourcePreEvent", metadata=metadata)


def failure_event(host: str) -> str:
    """Return the event of a PangolinResource that failed."""
    return event_line("resOpFailedEvent", metadata={"op": "create", "urn": urn(host)}, status=2)


def message_event(severity: str, message: str, resource_urn: str = "") -> str:
    """Return the event with a message, about a resource if there is a URN."""
    about = {"urn": resource_urn} if resource_urn else {}
    return event_line("diagnosticEvent", **about, message=message, severity=severity, color="never")
