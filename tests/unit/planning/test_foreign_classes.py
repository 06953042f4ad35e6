"""Tests what pic says about classes that are not its own."""

import pytest

from pic.core.ingress import IngressClass
from pic.core.sources import Ignored, Stop
from pic.planning.foreign_classes import ForeignClasses
from pic.settings.parse import Settings


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("pangolim", "pangolin"),
        ("pangoiln", "pangolin"),
        ("Pangolin", "pangolin"),
        ("pangolin-", "pangolin"),
        ("pangolim-eu", "pangolin-eu"),
        ("pangolin_eu", "pangolin-eu"),
        ("nginx", ""),
        ("penguin", ""),
        ("pango", ""),
    ],
)
def test_a_class_that_is_almost_ours_is_named(name: str, meant: str) -> None:
    assert ForeignClasses((), Settings()).near(name) == meant


def test_a_class_that_the_cluster_has_is_not_misspelt() -> None:
    classes = (IngressClass("pangolim", default=False),)

    assert ForeignClasses(classes, Settings()).near("pangolim") == ""


def test_a_pattern_that_begins_with_few_characters_means_no_class() -> None:
    settings = Settings(ingress_classes=("ng*", "*"))

    assert ForeignClasses(None, settings).near("nh-x") == ""


def test_the_reason_names_our_classes() -> None:
    classes = ForeignClasses((), Settings())

    assert classes.stop("nginx") == Stop(
        Ignored.OTHER_CLASS,
        "its class is nginx, and pic exposes only the classes pangolin, pangolin-*",
    )
    assert classes.stop("") == Stop(
        Ignored.NO_CLASS, "it has no class, and pic exposes only the classes pangolin, pangolin-*"
    )
    assert classes.stop("pangolim") == Stop(
        Ignored.MISSPELT_CLASS, "class pangolim: did you mean pangolin?"
    )
