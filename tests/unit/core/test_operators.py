"""Tests which finalizers pic knows the owner of."""

from pic.core import operators
from pic.core.ingress import Deletion
from pic.planning import deletions

FINALIZERS = ("resource.pangolin.io/finalizer", "example.org/x")


def test_a_finalizer_of_the_operator_is_named_with_its_owner() -> None:
    assert list(operators.described(FINALIZERS)) == [
        "resource.pangolin.io/finalizer of the Pangolin operator",
        "example.org/x",
    ]


def test_a_deletion_that_is_stuck_names_its_finalizers_and_their_operator() -> None:
    assert deletions.description(Deletion("2026-01-01T00:00:00Z", finalizers=FINALIZERS)) == (
        " (since 2026-01-01T00:00:00Z, finalizers resource.pangolin.io/finalizer of the Pangolin"
        " operator, example.org/x)"
    )
