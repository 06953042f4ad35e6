"""Makes the names and labels of our objects, so that they are legal in Kubernetes. No I/O.

See https://kubernetes.io/docs/concepts/overview/working-with-objects/names/ for the rules.
"""

import hashlib
import re
from uuid import NAMESPACE_URL, uuid5

STACK_LABEL = "pic.ingress.k8s.io/stack"
# Stacks with the same name have different ids. Objects of earlier releases do not have this label.
STACK_ID_LABEL = "pic.ingress.k8s.io/stack-id"
BUCKET_LABEL = "pic.ingress.k8s.io/bucket"
UID_LABEL = "pic.ingress.k8s.io/uid"
NAME_LABEL = "pic.ingress.k8s.io/name"
NAMESPACE_LABEL = "pic.ingress.k8s.io/namespace"
# The labels that the Go controller sets as well. pic recognises the objects to adopt by them.
SEED_LABELS = (UID_LABEL, NAME_LABEL, NAMESPACE_LABEL)

LONGEST_NAME = 253
LONGEST_LABEL = 63
# Hexadecimal digits. The rest of a name tells Ingresses apart, and the hash their hosts.
HASH_LENGTH = 8

_OBJECT_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LABEL_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")


def is_object_name(text: str) -> bool:
    """Say whether a text is a DNS subdomain, as the names of most kinds have to be."""
    return len(text) <= LONGEST_NAME and bool(_OBJECT_NAME.fullmatch(text))


def is_label_name(text: str) -> bool:
    """Say whether a text is a DNS label, as the names of namespaces and Services have to be."""
    return bool(_LABEL_NAME.fullmatch(text))


def object_name(namespace: str, ingress: str, host: str) -> str:
    """Return `pic-<namespace>-<ingress>-<hash>`; a long Ingress name is cut, but not the hash.

    The hash covers the host too, so each host of an Ingress has an object of its own.
    """
    tail = f"-{_short_hash(f'{namespace}/{ingress}/{host}')}"
    head = f"pic-{namespace}-{ingress}"
    # A name may not have `.-` in it, which the cut could cause.
    return head[: LONGEST_NAME - len(tail)].rstrip(".-") + tail


def label_value(text: str) -> str:
    """Return the text itself if it is a legal label value, else a prefix and a hash of it."""
    # The hash keeps two long texts apart that begin with the same characters.
    if _LABEL_VALUE.fullmatch(text):
        return text
    prefix = re.sub(r"[^-A-Za-z0-9_.]", "-", text)[: LONGEST_LABEL - HASH_LENGTH - 1]
    return f"{prefix.strip('-_.') or 'x'}-{_short_hash(text)}"


def labels(
    stack: str, namespace: str, ingress: str, uid: str, stack_id: str = ""
) -> dict[str, str]:
    """Return the labels of an object of ours; the one of the stack id only if there is an id."""
    return {
        NAME_LABEL: label_value(ingress),
        NAMESPACE_LABEL: label_value(namespace),
        STACK_LABEL: label_value(stack),
        **({STACK_ID_LABEL: stack_id} if stack_id else {}),
        UID_LABEL: label_value(uid),
    }


def register_name(stack: str, bucket: str) -> str:
    """Return the name of the ConfigMap of a bucket: `pic-<stack>-<bucket>`.

    Args:
        stack: The name of the stack, or the value of its label.
        bucket: A hexadecimal digit.
    """
    tail = f"-{bucket}"
    legal = stack if is_object_name(stack) else f"{_short_hash(stack)}"
    return f"pic-{legal}"[: LONGEST_NAME - len(tail)].rstrip(".-") + tail


def derived_uid(kind: str, namespace: str, name: str) -> str:
    """Return a stable uid for an object of a manifest file, which has none yet."""
    return str(uuid5(NAMESPACE_URL, f"{kind}/{namespace}/{name}"))


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:HASH_LENGTH]
