"""Tests what `pic doctor` says of Pangolin itself."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from dev.pangolin_api import V1_15, Pangolin
from pic.core.findings import CheckStatus, Finding
from pic.pangolin_api.connection import KEY
from pic.run.targets.pangolin_api import PangolinApi
from tests.support.api import ingress
from tests.support.doctor_contexts import FakeCheckout
from tests.support.publishing import HOST, publishing, settings_for

NAMES = [
    "pangolin plugin",
    "pangolin api",
    "pangolin TLS",
    "pangolin key",
    "pangolin sites",
    "pangolin domains",
    "pangolin resources",
]
RIGHTS = "the key may createResource and list everything"


@pytest.fixture
def checkout(tmp_path: Path) -> FakeCheckout:
    return FakeCheckout(tmp_path)


@pytest.fixture
def server() -> Iterator[Pangolin]:
    with Pangolin() as server:
        yield server


def findings(
    checkout: FakeCheckout, server: Pangolin, key: str = "", **settings: Any
) -> Mapping[str, Finding]:
    context = checkout.context(environment={KEY: key or server.key})
    found = list(PangolinApi().examine(context, settings_for(server.url, **settings)))
    assert [it.name for it in found if it.name != "pangolin key"] == [
        name for name in NAMES if name != "pangolin key"
    ]
    return {it.name: it for it in found}


def test_everything_is_checked_without_a_write(checkout: FakeCheckout, server: Pangolin) -> None:
    found = findings(checkout, server)

    assert {name: it.message for name, it in found.items() if name != "pangolin plugin"} == {
        "pangolin api": f"{server.url} is an Integration API that pic knows",
        "pangolin TLS": "without TLS, pic sends the key as plain text",
        "pangolin key": RIGHTS,
        "pangolin sites": "1 of 1 are online",
        "pangolin domains": "verified: example.com",
        "pangolin resources": "0 belong to this stack, 0 do not",
    }
    assert "updateResource, deleteResource" in found["pangolin key"].remedy
    assert server.store.resources == {}


def test_the_actions_are_tried_at_a_resource_of_the_stack(
    checkout: FakeCheckout, tmp_path: Path
) -> None:
    with publishing(tmp_path) as publisher:
        publisher.ingresses(ingress("web", HOST))
        publisher.deploy()
        before = [dict(row) for row in publisher.server.store.resources.values()]

        found = findings(checkout, publisher.server)
        publisher.server.forbid("updateResource", "createTarget")
        context = checkout.context(environment=publisher.environment)
        settings = settings_for(publisher.server.url)
        denied = [
            it.message
            for it in PangolinApi().examine(context, settings)
            if it.verdict is CheckStatus.FAIL and it.name == "pangolin key"
        ]

        assert [dict(row) for row in publisher.server.store.resources.values()] == before
    assert found["pangolin key"].remedy == (
        "only a change shows whether it may deleteResource, updateTarget, deleteTarget"
    )
    assert found["pangolin resources"].message == "1 belong to this stack, 0 do not"
    assert [text.partition(":")[2].partition(" in ")[0] for text in denied] == [
        ' tick "Update Resource" for it',
        ' tick "Create Target" for it',
    ]


def test_a_missing_right_to_list_is_named(checkout: FakeCheckout, server: Pangolin) -> None:
    server.forbid("listSites")

    found = findings(checkout, server)

    assert "may not listSites" in found["pangolin key"].message
    assert found["pangolin sites"].verdict is CheckStatus.SKIPPED
    assert found["pangolin key"].exit_code == 2


@pytest.mark.parametrize("key", ["nodot", "id.secret"])
def test_a_wrong_key_is_named(checkout: FakeCheckout, server: Pangolin, key: str) -> None:
    found = findings(checkout, server, key)

    failed = [it for it in found.values() if it.verdict is CheckStatus.FAIL]
    assert [it.exit_code for it in failed if it.name != "pangolin plugin"] == [2]
    assert key not in repr([it for it in found.values() if it.name != "pangolin api"])


def test_an_old_pangolin_is_named(checkout: FakeCheckout) -> None:
    with Pangolin(version=V1_15) as server:
        found = findings(checkout, server)

    assert "is older than 1.16" in found["pangolin api"].message
    assert found["pangolin key"].verdict is CheckStatus.SKIPPED


def test_a_pangolin_that_does_not_answer_is_named(checkout: FakeCheckout, server: Pangolin) -> None:
    server.die("a test")

    found = findings(checkout, server)

    assert found["pangolin api"].exit_code == 5


def test_an_unknown_organisation_is_named(checkout: FakeCheckout, server: Pangolin) -> None:
    server.allow("root.key", None)

    found = findings(checkout, server, "root.key", pangolin_org="elsewhere")

    assert found["pangolin key"].message == (
        "organisation elsewhere has nothing: check pic:pangolinOrg"
    )
    assert found["pangolin sites"].message == "the organisation has no site"
    assert found["pangolin domains"].message == "the organisation has no verified base domain"


def test_sites_and_domains_that_do_not_work_are_named(
    checkout: FakeCheckout, server: Pangolin
) -> None:
    server.store.site("home", "Cellar", online=False)
    server.store.domain("home", "example.org", verified=False)

    found = findings(checkout, server, default_tunnel="attic")

    assert found["pangolin sites"].message == "pic:defaultTunnel is attic, which is no site"
    assert found["pangolin sites"].remedy == "set pic:defaultTunnel to one of cellar, home"
    assert found["pangolin domains"].remedy == "not verified: example.org"
    assert findings(checkout, server)["pangolin sites"].remedy == "offline: cellar"


def test_a_certificate_is_checked(checkout: FakeCheckout) -> None:
    with Pangolin(tls=True) as server:
        trusted = findings(checkout, server, pangolin_ca=str(server.ca))
        unknown = findings(checkout, server)

    assert trusted["pangolin TLS"].message == "pic accepts the certificate"
    assert "certificate" in unknown["pangolin api"].message
