"""Tests what the program registers for Pangolin itself."""

from collections.abc import Iterator
from typing import Any

import pytest

from dev.pangolin_api import Pangolin
from pic.core.model import PUBLIC_TYPE
from pic.pangolin_api import naming
from tests.support.api import STACK_ID, Api, fill_cluster, ingress
from tests.support.engine import ProgramRun
from tests.support.programs import RunProgram

HOST = "web.example.com"


@pytest.fixture
def server() -> Iterator[Pangolin]:
    with Pangolin() as server:
        yield server


@pytest.fixture
def up(run: RunProgram, server: Pangolin) -> RunProgram:
    values = {
        "pic:targets": "pangolin-api",
        "pic:pangolinUrl": server.url,
        "pic:pangolinOrg": "home",
        "pic:defaultTunnel": "home",
    }

    def up(
        config: dict[str, str] | None = None, *, preview: bool = False, **variables: str
    ) -> ProgramRun:
        environment = {"PANGOLIN_API_KEY": server.key, **variables}
        return run({**values, **(config or {})}, preview=preview, **environment)

    return up


def ours(result: ProgramRun) -> list[dict[str, Any]]:
    """Return what is registered for Pangolin, without what the register needs."""
    assert result.error is None
    return [it for it in result.resources if "kubernetes" not in it["type"]]


def publish(server: Pangolin, host: str) -> int:
    """Insert our resource of a host, as an earlier run has made it."""
    nice = naming.nice_id("prod", STACK_ID, host)
    row = server.store.resource(
        "home", name=host, niceId=nice, fullDomain=host, domainId=server.domain_id, sso=False
    )
    return int(row["resourceId"])


def test_a_host_is_registered_with_the_provider_of_pangolin(
    api: Api, up: RunProgram, server: Pangolin
) -> None:
    fill_cluster(api, [ingress("web", HOST)])

    result = up()

    [provider, resource] = ours(result)
    assert (provider["type"], resource["type"]) == ("pulumi:providers:pangolin", PUBLIC_TYPE)
    assert provider["object"] == {"url": server.url, "org": "home"}
    assert (resource["name"], resource["object"]["host"]) == (HOST, HOST)
    assert server.key not in repr(result)
    assert resource["hooks"]["beforeDelete"] == ["pic:public-before-delete"]


def test_a_live_host_is_imported_and_one_that_nothing_asks_for_keeps_its_publisher(
    api: Api, up: RunProgram, server: Pangolin
) -> None:
    number = publish(server, HOST)
    fill_cluster(api, [ingress("web", HOST)])

    [_, resource] = ours(up())

    assert resource["importId"] == str(number)


def test_nothing_is_registered_anew_while_pangolin_does_not_answer(
    api: Api, up: RunProgram, server: Pangolin
) -> None:
    fill_cluster(api, [ingress("web", HOST)])
    server.die("a test")

    result = up()

    assert [it["type"] for it in ours(result)] == ["pulumi:providers:pangolin"]


def test_a_host_of_the_register_is_reported_at_its_ingress(
    api: Api, up: RunProgram, server: Pangolin
) -> None:
    publish(server, HOST)
    publish(server, "gone.example.com")
    fill_cluster(api, [ingress("web", HOST)])

    assert [it["name"] for it in ours(up())] == ["pangolin", HOST]
