"""What the program registers for Pi-hole, what it reads before, and what it writes back."""

from collections.abc import Callable, Iterator

import pytest

from dev.pihole import PiHole
from pic.cluster.listing import NETWORKING
from pic.core.model import RECORD_TYPE
from tests.support.api import (
    CLUSTER,
    Answer,
    Api,
    fill_cluster,
    ingress,
)
from tests.support.engine import Seen

Run = Callable[..., Seen]
A, B = "a.example.com", "b.example.com"
IP, OTHER_IP = "10.0.0.1", "10.0.0.2"
STACK = "urn:pulumi:prod::pic::pulumi:pulumi:Stack$"
PROVIDER = f"{STACK}pulumi:providers:pihole::pihole"
WRITTEN = f"{NETWORKING}/namespaces/prod/ingresses/web"


@pytest.fixture
def pihole() -> Iterator[PiHole]:
    with PiHole() as made:
        yield made


@pytest.fixture
def up(run: Run, pihole: PiHole) -> Run:
    """Run the program with both targets."""
    values = {
        "pic:targets": "pangolin, pihole",
        "pic:piholeUrl": pihole.url,
        "pic:piholeTargetIp": IP,
    }

    def up(config: dict[str, str] | None = None, *, preview: bool = False, **more: str) -> Seen:
        environment = {"PIHOLE_PASSWORD": pihole.password, **more}
        return run({**values, **(config or {})}, preview=preview, **environment)

    return up


def registered(api: Api, *hosts: str) -> None:
    web = ingress("web", *hosts)
    web["metadata"]["annotations"]["pihole.io/register"] = "true"
    fill_cluster(api, [web])
    api.set_answers(WRITTEN, Answer({}))


def written(api: Api) -> list[tuple[str, str, bytes]]:
    return [
        (each.method, each.headers["Content-Type"], each.body)
        for each in api.requests
        if each.path.startswith(WRITTEN)
    ]


def ours(pihole: PiHole, *records: str) -> None:
    theirs = "192.168.1.1 nas.lan"
    pihole.lines = [theirs, *(f"{each} # k8s:{CLUSTER}" for each in records)]


def test_a_record_is_a_resource_of_a_provider_without_a_secret(
    api: Api, up: Run, pihole: PiHole
) -> None:
    registered(api, A)

    seen = up({"pic:targets": "pihole"})

    assert (seen.error, seen.log, seen.outputs["resources"]) == (None, [], 0)
    assert seen.resources == [
        {
            "urn": PROVIDER,
            "type": "pulumi:providers:pihole",
            "name": "pihole",
            "hooks": {},
            "object": {
                "api": "v6",
                "clusterId": CLUSTER,
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


def test_both_targets_are_declared_and_what_is_there_is_imported(
    api: Api, up: Run, pihole: PiHole
) -> None:
    twice = "c.example.com"
    registered(api, A, B, twice)
    ours(pihole, f"{IP} {A}", f"{OTHER_IP} {B}", f"{IP} {twice}", f"{OTHER_IP} {twice}")

    seen = up({"pic:events": "false"})

    imports = {each["name"]: each.get("importId") for each in seen.resources}
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
    bound = [each["hooks"] for each in seen.resources if each["type"] == RECORD_TYPE]
    assert bound == [{"beforeDelete": ["pic:pihole-before-delete"]}] * 3


def test_a_record_that_the_engine_does_not_know_and_so_leaves_is_told(
    api: Api, up: Run, pihole: PiHole
) -> None:
    registered(api, A)
    ours(pihole, f"{IP} {A}", f"{IP} {B}")

    seen = up({"pic:events": "false"})

    assert [text for level, text in seen.log if level == "WARNING"] == [
        f"UntrackedOrphan: DNS record {B}/A: an interrupted run left it and no Ingress asks for it;"
        " the state does not have it, so this run leaves it: pic up deletes it"
    ]


def test_what_is_registered_is_written_back_once_that_went_well(api: Api, up: Run) -> None:
    registered(api, B, A)

    assert up().error is None

    body = (
        b'{"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "web",'
        b' "namespace": "prod", "uid": "uid-prod-web",'
        b' "annotations": {"pihole.io/managed-hosts": "a.example.com,b.example.com"}}}'
    )
    assert written(api) == [("PATCH", "application/apply-patch+yaml", body)]


def test_a_preview_writes_nothing_and_a_refused_annotation_is_a_warning(api: Api, up: Run) -> None:
    registered(api, A)

    assert (up(preview=True).error, written(api)) == (None, [])

    api.refuse(WRITTEN, 403, "may not patch")
    seen = up()

    warning = "cannot write pihole.io/managed-hosts: Ingress prod/web: may not patch"
    assert (seen.error, seen.log) == (None, [("WARNING", warning)])


def test_a_release_asks_pihole_whether_it_is_there(api: Api, up: Run, pihole: PiHole) -> None:
    registered(api, A)

    seen = up(PIC_RELEASE="1")

    assert (seen.error, seen.resources) == (None, [])
    assert [each.method for each in pihole.log] == ["POST", "GET", "DELETE"]
