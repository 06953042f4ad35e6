"""What the specification of the Pi-hole operator asks to be shown on a real API server."""

import json
import re
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from dev.controlplane import ControlPlane
from dev.pihole import Fault, PiHole, dnsmasq
from dev.toolchain import Toolchain
from tests.engine.records import IP, OTHER_IP, Registry, set_registry
from tests.engine.stage import Said
from tests.support.waiting import until

SERVES = re.compile(r"/metrics on port ([0-9]+)")
RESIDENT = re.compile(r"^process_resident_memory_bytes ([0-9.e+]+)$", re.MULTILINE)
MOST_BYTES = 64 * 1024 * 1024
BY_HAND = ("192.168.1.1 nas.lan nas # by hand", "192.168.1.2 printer.lan")
PASSWORD = "nobody-may-see-this-one"  # noqa: S105 - of a Pi-hole for this test


@pytest.fixture
def registry(plane: ControlPlane, tools: Toolchain) -> Iterator[Registry]:
    """A stack that registers only, beside what somebody has made by hand."""
    with (
        PiHole(password=PASSWORD, records=BY_HAND, dns=dnsmasq() is not None) as pihole,
        set_registry(plane, tools, pihole, ["pihole"]) as made,
    ):
        yield made
        assert (made.theirs, made.is_at_rest()) == (BY_HAND, True)


def up(registry: Registry, *arguments: str, code: int = 0) -> Said:
    said = registry.stage.pic("up", *arguments)
    assert said.code == code, said
    return said


def logged(said: Said) -> list[Mapping[str, str]]:
    """What happened to records, without the time of each line."""
    lines = [json.loads(line) for line in said.err.splitlines() if line.startswith("{")]
    return [
        {key: value for key, value in line.items() if key != "time"}
        for line in lines
        if line["msg"].startswith(("dns record", "invalid", "ingress skipped"))
    ]


def test_an_annotated_ingress_is_registered_and_logged(registry: Registry) -> None:
    registry.register("web", "app", "api")
    registry.stage.ingress("other", "private", class_name="nginx")

    said = up(registry, "--log-format", "json")

    assert registry.ours == registry.lines("api", "app")
    assert logged(said) == [
        {
            "level": "INFO",
            "msg": "dns record created",
            "ingress": f"{registry.stage.name}/web",
            "host": registry.stage.host(word),
            "ip": IP,
        }
        for word in ("api", "app")
    ]


def test_a_registered_host_resolves(registry: Registry) -> None:
    if not registry.pihole.dns:
        pytest.skip("no dnsmasq: `make servers` gets it")
    registry.register("web", "app")

    up(registry)

    asked = (registry.stage.host("app"), registry.stage.host("nobody"), "nas.lan")
    assert [registry.pihole.ask(name) for name in asked] == [[IP], [], ["192.168.1.1"]]


def test_an_update_of_an_ingress_adds_and_removes_hosts(registry: Registry) -> None:
    registry.register("web", "app", "old")
    up(registry)
    registry.register("web", "app", "new", ip=OTHER_IP)

    said = up(registry, "--log-format", "json")

    assert registry.ours == registry.lines("app", "new", ip=OTHER_IP)
    assert [(each["msg"], each["host"]) for each in logged(said)] == [
        ("dns record updated", registry.stage.host("app")),
        ("dns record created", registry.stage.host("new")),
        ("dns record deleted", registry.stage.host("old")),
    ]


def test_records_are_deleted_with_the_annotation(registry: Registry) -> None:
    registry.register("web", "app")
    registry.register("shop", "shop")
    up(registry)
    registry.stage.ingress("web", "app")

    up(registry)

    assert registry.ours == registry.lines("shop")
    assert registry.managed() == {"shop": registry.stage.host("shop"), "web": None}


def test_records_are_deleted_with_their_ingress(registry: Registry) -> None:
    registry.register("web", "app")
    registry.register("shop", "shop")
    up(registry)
    registry.stage.delete_ingress("web", collected=False)

    up(registry)

    assert registry.ours == registry.lines("shop")


def test_an_invalid_annotation_skips_its_ingress_and_fails_nothing_else(registry: Registry) -> None:
    registry.register("web", "app")
    registry.register("broken", "broken", ip="192.168.9.999")
    registry.register("empty", "empty", annotations={"pihole.io/hosts": " , "})

    said = up(registry, "--log-format", "json")

    assert registry.ours == registry.lines("app")
    found = {each["msg"]: each for each in logged(said)}
    assert found["invalid annotation"] == {
        "level": "WARN",
        "msg": "invalid annotation",
        "ingress": f"{registry.stage.name}/broken",
        "annotation": "pihole.io/target-ip",
        "value": "192.168.9.999",
        "error": "the address is '192.168.9.999'; needed is an IPv4 address, and after a comma"
        " perhaps an IPv6 one",
    }
    assert found["ingress skipped (no hosts)"] == {
        "level": "WARN",
        "msg": "ingress skipped (no hosts)",
        "ingress": f"{registry.stage.name}/empty",
    }


def test_a_hundred_ingresses_are_registered_in_few_writes(registry: Registry) -> None:
    words = [f"app-{number}" for number in range(100)]
    for word in words:
        registry.register(word, word)

    up(registry)
    first = registry.pihole.writes
    up(registry)

    assert registry.ours == registry.lines(*words)
    assert (first < 50, registry.pihole.writes) == (True, first)


def test_a_failing_pi_hole_is_an_error_whose_class_sets_the_backoff_of_the_watcher(
    registry: Registry,
) -> None:
    registry.register("web", "app")
    registry.pihole.inject(Fault("answer", status=503, times=1000))
    report = registry.stage.workspace.path / "report.json"

    said = up(registry, "--log-format", "json", "--report", str(report), code=6)
    registry.pihole.heal()

    failures = json.loads(report.read_text())["failures"]
    assert [(each["target"], each["class"]) for each in failures] == [("pihole", "temporary")] * 2
    assert '"msg":"pi-hole api error"' in said.err.replace('": "', '":"')


@contextmanager
def watching(registry: Registry) -> Iterator[str]:
    """Run a watcher, and yield where it serves."""
    stage = registry.stage
    serving = ("watch", "--stack", stage.name, "--listen", "127.0.0.1:0", "--log-format", "json")
    elected = ("--leader-elect", "--lease-namespace", stage.name)
    command = (str(stage.workspace.python), "-m", "pic", *serving, *elected)
    with stage.workspace.start(*command) as process:
        assert process.stdout
        ports = (SERVES.search(line) for line in process.stdout)
        yield f"http://127.0.0.1:{next(found[1] for found in ports if found)}"
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


def asked(url: str) -> tuple[int, str]:
    try:
        with urlopen(url, timeout=5) as answer:  # noqa: S310 - ours, on this machine
            return int(answer.status), answer.read().decode()
    except HTTPError as error:
        return error.code, ""


def test_a_watcher_is_ready_soon_follows_every_change_and_stays_small(registry: Registry) -> None:
    registry.register("web", "app")

    def has(*words: str) -> None:
        until(lambda: registry.ours == registry.lines(*words), f"records of {words}", 60)

    with watching(registry) as url:
        until(lambda: asked(f"{url}/readyz")[0] == HTTPStatus.OK, "it is ready", 30)
        has("app")
        registry.register("shop", "shop")
        has("app", "shop")
        registry.stage.ingress("web", "app")
        has("shop")
        alive, _ = asked(f"{url}/healthz")
        _, metrics = asked(f"{url}/metrics")

    found = RESIDENT.search(metrics)
    assert (alive, found is not None and float(found[1]) < MOST_BYTES) == (HTTPStatus.OK, True)
