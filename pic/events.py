"""Kubernetes Events at the Ingresses, so that `kubectl describe` tells what became of them."""

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime

from pic.cluster import CORE, Transport
from pic.notices import Level

COMPONENT = "pic"


@dataclass(frozen=True, slots=True)
class Subject:
    """The Ingress an Event is about."""

    namespace: str
    name: str
    uid: str


def post(transport: Transport, subject: Subject, level: Level, reason: str, message: str) -> None:
    """Create an Event.

    Raises:
        StatusError: The API server said no.
        ClusterError: There was no answer.
    """
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "name": f"{subject.name[:200].rstrip('.-')}.{uuid.uuid4().hex[:16]}",
            "namespace": subject.namespace,
        },
        "involvedObject": {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "Ingress",
            "namespace": subject.namespace,
            "name": subject.name,
            "uid": subject.uid,
        },
        "type": level.value,
        "reason": reason,
        "message": message[:1024],
        "source": {"component": COMPONENT},
        "reportingComponent": COMPONENT,
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    }
    transport.request("POST", f"{CORE}/namespaces/{subject.namespace}/events", event)
