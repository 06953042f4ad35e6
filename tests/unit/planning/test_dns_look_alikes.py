"""Tests which annotations are taken for one about DNS records, and what they hide."""

import pytest

from pic.core.ingress import Ingress
from pic.planning import dns_requests
from pic.planning.dns_look_alikes import NAMES, label_meant, meant, report
from pic.planning.notice_log import NoticeLog


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("pihole.io/hosts", None),
        ("pihole.io/managed-hosts", None),
        ("pihole.io/host", "hosts"),
        ("pihole.io/hostname", "hosts"),
        ("pihole.io/domains", "hosts"),
        ("pihole.io/targetip", "target-ip"),
        ("pihole.io/target", "target-ip"),
        ("pihole.io/ip", "target-ip"),
        ("pihole.io/registered", "register"),
        ("pihole.io/zzz", ""),
        ("pi-hole.io/hosts", "hosts"),
        ("pi-hole.io/host", "hosts"),
        ("pihole/target-ip", "target-ip"),
        ("pihole.io.register", "register"),
        ("pi-hole.io/zzz", None),
        ("example.com/hosts", None),
        ("example.com/host", None),
        ("hosts", None),
    ],
)
def test_a_key_stands_for_the_annotation_that_it_reads_like(key: str, name: str | None) -> None:
    assert meant(key) == name


def test_a_label_stands_for_the_annotation_with_its_name() -> None:
    assert label_meant("pihole.io/register") == "register"
    assert label_meant("app") is None


@pytest.mark.parametrize(
    ("registered", "hidden"), [(True, frozenset({"hosts", "target-ip"})), (False, frozenset())]
)
def test_only_a_registered_ingress_has_something_to_hide(
    *, registered: bool, hidden: frozenset[str]
) -> None:
    annotations = {"pihole.io/host": "a", "pihole.io/ip": "b", "pihole.io/registr": "c"}
    notices = NoticeLog()

    assert report(
        Ingress("a", "b", "", annotations=annotations), notices, registered=registered
    ) == (hidden)
    assert len(notices.sorted()) == 3


def test_the_names_are_those_of_the_documentation() -> None:
    assert tuple(key.name for key in dns_requests.KEYS) == NAMES
