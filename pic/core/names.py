"""Names and label values of our objects, each legal in Kubernetes. No I/O."""

import hashlib
import re
from uuid import NAMESPACE_URL, uuid5

STACK_LABEL = "pic.ingress.k8s.io/stack"
UID_LABEL = "pic.ingress.k8s.io/uid"
NAME_LABEL = "pic.ingress.k8s.io/name"
NAMESPACE_LABEL = "pic.ingress.k8s.io/namespace"
SEED_LABELS = (UID_LABEL, NAME_LABEL, NAMESPACE_LABEL)

LONGEST_NAME = 253
LONGEST_LABEL = 63
HASH_LENGTH = 8

_OBJECT_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LABEL_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")


def is_object_name(text: str) -> bool:
    """Say whether it is a legal DNS subdomain, as most names of Kubernetes are."""
    return len(text) <= LONGEST_NAME and bool(_OBJECT_NAME.fullmatch(text))


def is_label_name(text: str) -> bool:
    """Say whether it is a legal DNS label, as names of namespaces and Services are."""
    return bool(_LABEL_NAME.fullmatch(text))


def object_name(namespace: str, ingress: str, host: str) -> str:
    """Return `pic-<namespace>-<ingress>-<hash>`; a long Ingress name is cut, the hash kept."""
    tail = f"-{_short_hash(f'{namespace}/{ingress}/{host}')}"
    head = f"pic-{namespace}-{ingress}"
    return head[: LONGEST_NAME - len(tail)].rstrip(".-") + tail


def label_value(text: str) -> str:
    """Return a legal label value: the text itself, or a prefix, a dash and a hash of it."""
    if _LABEL_VALUE.fullmatch(text):
        return text
    prefix = re.sub(r"[^-A-Za-z0-9_.]", "-", text)[: LONGEST_LABEL - HASH_LENGTH - 1]
    return f"{prefix.strip('-_.') or 'x'}-{_short_hash(text)}"


def labels(stack: str, namespace: str, ingress: str, uid: str) -> dict[str, str]:
    """Return the four labels of an object of ours, by key."""
    return {
        NAME_LABEL: label_value(ingress),
        NAMESPACE_LABEL: label_value(namespace),
        STACK_LABEL: label_value(stack),
        UID_LABEL: label_value(uid),
    }


def derived_uid(kind: str, namespace: str, name: str) -> str:
    """Return a stable uid for an object that has none yet, from its identity."""
    return str(uuid5(NAMESPACE_URL, f"{kind}/{namespace}/{name}"))


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:HASH_LENGTH]
