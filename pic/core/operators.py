"""Knows the Pangolin operators whose CRDs pic writes: how they are recognised, and their limits."""

from collections.abc import Iterator
from dataclasses import dataclass

# Every known operator sets it on each PangolinResource.
FINALIZER = "resource.pangolin.io/finalizer"
DEPLOYMENT_LABEL = "app.kubernetes.io/name=pangolin-operator"
# The page of Pangolin's list that the known operators read.
LIST_PAGE = 20


@dataclass(frozen=True, slots=True)
class KnownOperator:
    """An operator that manages PangolinResources.

    Attributes:
        name: The name of its repository, whose owner its images usually bear.
        limits: What it cannot do, beside what all of them cannot do.
    """

    name: str
    limits: tuple[str, ...] = ()


_ALL = (
    "it leaves the route of a deleted object in Pangolin",
    f"it finds at most {LIST_PAGE} resources in Pangolin",
)
_CURRENT = (
    "it does not send paths to Pangolin",
    "it does not remove targets from Pangolin",
)
_OLDER = (
    "it has one target for each host",
    "it has neither login nor block",
    "it takes another domain without domainId",
)
_LEAK = "it writes the API key to its log: use another image"

STEFB69 = KnownOperator("stefb69/pangolin-operator", (*_ALL, *_CURRENT))
NIKI = KnownOperator("niki-on-github/pangolin-operator", (*_ALL, *_CURRENT, _LEAK))
BOVF = KnownOperator("bovf/pangolin-operator", (*_ALL, *_OLDER))
OPERATORS = (STEFB69, NIKI, BOVF)


def of_image(image: str) -> KnownOperator | None:
    """Return the operator of a container image; None if the name of the image does not tell."""
    return next((it for it in OPERATORS if it.name.partition("/")[0] in image), None)


def of_crd(*, single_target: bool) -> KnownOperator:
    """Return the operator that the installed CRD suggests."""
    return BOVF if single_target else STEFB69


def described(finalizers: tuple[str, ...]) -> Iterator[str]:
    """Yield finalizers, each with its owner if pic knows it."""
    for finalizer in finalizers:
        owner = " of the Pangolin operator" if finalizer == FINALIZER else ""
        yield f"{finalizer}{owner}"
