"""Kubernetes Events at the Ingresses, so that `kubectl describe` tells what became of them."""

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime

from pic.cluster.listing import CORE, StatusError, Transport
from pic.core.json_values import Raw
from pic.core.notices import Level
from pic.report.event_texts import EventText

COMPONENT = "pic"
CONFLICT = 409
# Events are for the daily trickle: each costs several milliseconds, and the API server keeps them
# for an hour only. What changes in bulk is in the preview and in the plan.
EVENTS_A_RUN = 100


@dataclass(frozen=True, slots=True)
class InvolvedObject:
    """The Ingress an Event is about."""

    namespace: str
    name: str
    uid: str


def post(
    transport: Transport, subject: InvolvedObject, level: Level, reason: str, message: str
) -> None:
    """Create an Event of what has happened.

    Raises:
        StatusError: The API server said no.
        ClusterError: There was no answer.
    """
    _create(transport, subject, _body(level, reason, message), uuid.uuid4().hex[:16])


def warn(transport: Transport, warned: EventText) -> None:
    """Create the Event of a warning, unless the API server still has it.

    Its name is made of what it says, so it is there once however often it is created.

    Raises:
        StatusError: The API server said no.
        ClusterError: There was no answer.
    """
    owner = warned.ingress
    subject = InvolvedObject(owner.namespace, owner.name, owner.uid)
    body = _body(Level.WARNING, warned.reason, warned.message)
    try:
        _create(transport, subject, body, warned.digest)
    except StatusError as error:
        if error.status != CONFLICT:
            raise


def _create(transport: Transport, subject: InvolvedObject, body: Raw, suffix: str) -> None:
    event = {
        **body,
        "metadata": {
            "name": f"{subject.name[:200].rstrip('.-')}.{suffix}",
            "namespace": subject.namespace,
        },
        "involvedObject": {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "Ingress",
            "namespace": subject.namespace,
            "name": subject.name,
            "uid": subject.uid,
        },
    }
    transport.request("POST", f"{CORE}/namespaces/{subject.namespace}/events", event)


def _body(level: Level, reason: str, message: str) -> Raw:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "type": level.value,
        "reason": reason,
        "message": message[:1024],
        "source": {"component": COMPONENT},
        "reportingComponent": COMPONENT,
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    }
