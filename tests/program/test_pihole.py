"""Tests what the program registers for Pi-hole, and which annotations it writes."""

from collections.abc import Iterator

import pytest

from dev.pihole import PiHole
from pic.cluster.listing import NETWORKING
from pic.core.model import RECORD_TYPE
from tests.support.api import CLUSTER, STACK_ID, Answer, Api, fill_cluster, ingress
from tests.support.engine import ProgramRun
from tests.support.pihole_cluster import MARKER
from tests.support.programs import RunProgram, StateEngine

A, B = "a.example.com", "b.example.com"
IP, OTHER_IP = "10.0.0.1", "10.0.0.2"
STACK = "urn:pulumi:prod::pic::pulumi:pulumi:Stack$"
PROVIDER = f"{STACK}pulumi:providers:pihole::pihole"
INGRESS_PATH = f"{NETWORKING}/namespaces/prod/ingresses/web"


@pytest.fixture
def pihole() -> Iterator[PiHole]:
    with PiHole() as pihole:
        yield pihole


@pytest.fixture
def up(run: RunProgram, pihole: PiHole) -> RunProgram:
    """Run the program with both targets."""
    values = {
        "pic:targets": "pangolin, pihole",
        "pic:piholeUrl": pihole.url,
        "pic:piholeTargetIp": IP,
    }

    def up(
        config: dict[str, str] | None = None, *, preview: bool = False, **variables: str
    ) -> ProgramRun:
        environment = {"PIHOLE_PASSWORD": pihole.password, **variables}
        return run({**values, **(config or {})}, preview=preview, **environment)

    return up


def serve_ingress(api: Api, *hosts: str) -> None:
    web = ingress("web", *hosts)
    web["metadata"]["annotations"]["pihole.io/register"] = "true"
    fill_cluster(api, [web])
    api.set_answers(INGRESS_PATH, Answer({}))


def writes_to_ingress(api: Api) -> list[tuple[str, str, bytes]]:
    return [
        (item.method, item.headers["Content-Type"], item.body)
        for item in api.requests
        if item.path.startswith(INGRESS_PATH)
    ]


def set_records(pihole: PiHole, *records: str) -> None:
    foreign = "192.168.1.1 nas.lan"
    pihole.lines = [foreign, *(f"{item} {MARKER}" for item in records)]


def test_a_record_is_a_resource_of_a_provider_without_a_secret(
    api: Api, up: RunProgram, pihole: PiHole
) -> None:
    serve_ingress(api, A)

    registered = up({"pic:targets": "pihole"})

    assert (registered.error, registered.log, registered.outputs["resources"]) == (None, [], 0)
    assert registered.order == ["pihole", "cluster", "register-7", f"{A}/A"]
    # The register is in the cluster, so its provider is declared as well.
    assert [resource for resource in registered.resources if resource["name"] != "cluster"] == [
        {
            "urn": PROVIDER,
            "type": "pulumi:providers:pihole",
            "name": "pihole",
            "hooks": {},
            "object": {
                "api": "v6",
                "clusterId": CLUSTER,
                "stackId": STACK_ID,
                "insecure": "false",
                "takeOver": "false",
                "url": pihole.url,
            },
        },
        {
            "urn": f"{STACK}{RECORD_TYPE}::{A}/A",
            "type": RECORD_TYPE,
            "name": f"{A}/A",
            "provider": f"{PROVIDER}::pihole",
            "deleteBeforeReplace": True,
            "deleteBeforeReplaceDefined": True,
            "customTimeouts": {"delete": "5m"},
            "hooks": {
                "afterCreate": ["pic:pihole-after-create"],
                "afterUpdate": ["pic:pihole-after-update"],
                "beforeDelete": ["pic:pihole-before-delete"],
                "afterDelete": ["pic:pihole-after-delete"],
            },
            "object": {"host": A, "ip": IP},
        },
    ]
    assert (pihole.sessions, pihole.writes) == (0, 0)


def test_both_targets_are_declared_and_live_records_are_imported(
    api: Api, up: RunProgram, pihole: PiHole
) -> None:
    twice = "c.example.com"
    serve_ingress(api, A, B, twice)
    set_records(pihole, f"{IP} {A}", f"{OTHER_IP} {B}", f"{IP} {twice}", f"{OTHER_IP} {twice}")

    registered = up({"pic:events": "false"})

    imports = {item["name"]: item.get("importId") for item in registered.resources}
    assert imports == {
        "cluster": None,
        "pihole": None,
        A: None,
        B: None,
        twice: None,
        f"{A}/A": f"{A}/A",
        f"{B}/A": f"{B}/A",
        f"{twice}/A": None,
    }
    bound = [item["hooks"] for item in registered.resources if item["type"] == RECORD_TYPE]
    assert bound == [{"beforeDelete": ["pic:pihole-before-delete"]}] * 3


def test_a_record_that_the_state_does_not_have_causes_a_warning(
    api: Api, up: RunProgram, pihole: PiHole
) -> None:
    serve_ingress(api, A)
    set_records(pihole, f"{IP} {A}", f"{IP} {B}")

    registered = up({"pic:events": "false"})

    assert [text for level, text in registered.log if level == "WARNING"] == [
        f"UntrackedOrphan: DNS record {B}/A: an interrupted run left it and no Ingress asks for it;"
        " the state does not have it, so this run leaves it: pic up deletes it"
    ]


@pytest.mark.parametrize("in_state", [False, True])
def test_24_only_the_state_makes_a_record_of_an_earlier_version_ours(
    api: Api,
    up: RunProgram,
    pihole: PiHole,
    state_engine: StateEngine,
    in_state: bool,  # noqa: FBT001
) -> None:
    serve_ingress(api, A)
    pihole.lines = [f"{IP} {host} # k8s:{CLUSTER}" for host in (A, "gone.lan")]
    state_engine.records = [A] if in_state else []

    registered = up({"pic:targets": "pihole"})

    imports = {entry["importId"] for entry in registered.resources if entry.get("importId")}
    assert (registered.error, imports) == (None, {f"{A}/A"} if in_state else set())
    assert ("RecordExists" in str(registered.log)) is not in_state


def test_registered_hosts_are_written_to_the_annotation_of_the_ingress(
    api: Api, up: RunProgram
) -> None:
    serve_ingress(api, B, A)

    assert up().error is None

    body = (
        b'{"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "web",'
        b' "namespace": "prod", "uid": "uid-prod-web",'
        b' "annotations": {"pihole.io/managed-hosts": "a.example.com,b.example.com"}}}'
    )
    assert writes_to_ingress(api) == [("PATCH", "application/apply-patch+yaml", body)]


def test_a_preview_writes_nothing_and_a_refused_annotation_is_a_warning(
    api: Api, up: RunProgram
) -> None:
    serve_ingress(api, A)

    assert (up(preview=True).error, writes_to_ingress(api)) == (None, [])

    api.refuse(INGRESS_PATH, 403, "may not patch")
    registered = up()

    warning = "cannot write pihole.io/managed-hosts: Ingress prod/web: may not patch"
    assert (registered.error, registered.log) == (None, [("WARNING", warning)])


def test_a_release_checks_that_pihole_answers(api: Api, up: RunProgram, pihole: PiHole) -> None:
    serve_ingress(api, A)

    registered = up(PIC_RELEASE="1")

    assert (registered.error, registered.resources) == (None, [])
    assert [item.method for item in pihole.log] == ["POST", "GET", "GET", "GET", "DELETE"]
