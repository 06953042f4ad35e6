"""Tests that the specification of the Pi-hole operator asks for, on a real API server."""

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
from tests.engine.stage import PicRun
from tests.support.waiting import until

PORT = re.compile(r"/metrics on port ([0-9]+)")
RESIDENT = re.compile(r"^process_resident_memory_bytes ([0-9.e+]+)$", re.MULTILINE)
MAX_BYTES = 64 * 1024 * 1024
BY_HAND = ("192.168.1.1 nas.lan nas # by hand", "192.168.1.2 printer.lan")
PASSWORD = "hidden-from-every-output"  # noqa: S105 - of a Pi-hole for this test


@pytest.fixture
def registry(plane: ControlPlane, tools: Toolchain) -> Iterator[Registry]:
    """Return a stack with Pi-hole as its only target, and lines made by hand."""
    with (
        PiHole(password=PASSWORD, records=BY_HAND, dns=dnsmasq() is not None) as pihole,
        set_registry(plane, tools, pihole, ["pihole"]) as registry,
    ):
        yield registry
        assert (registry.foreign, registry.is_at_rest()) == (BY_HAND, True)


def up(registry: Registry, *arguments: str, code: int = 0) -> PicRun:
    run = registry.stage.pic("up", *arguments)
    assert run.code == code, run
    return run


def record_lines(run: PicRun) -> list[Mapping[str, str]]:
    """Return the log lines about records, without their time."""
    lines = [json.loads(line) for line in run.err.splitlines() if line.startswith("{")]
    return [
        {key: value for key, value in line.items() if key != "time"}
        for line in lines
        if line["msg"].startswith(("dns record", "invalid", "ingress skipped"))
    ]


def test_an_annotated_ingress_is_registered_and_logged(registry: Registry) -> None:
    registry.register("web", "app", "api")
    registry.stage.ingress("other", "private", class_name="nginx")

    run = up(registry, "--log-format", "json")

    assert registry.ours == registry.lines("api", "app")
    assert record_lines(run) == [
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
        pytest.skip("no dnsmasq: run `make servers` to get it")
    registry.register("web", "app")

    up(registry)

    names = (registry.stage.host("app"), registry.stage.host("unknown"), "nas.lan")
    assert [registry.pihole.ask(name) for name in names] == [[IP], [], ["192.168.1.1"]]


def test_an_update_of_an_ingress_adds_and_removes_hosts(registry: Registry) -> None:
    registry.register("web", "app", "old")
    up(registry)
    registry.register("web", "app", "new", ip=OTHER_IP)

    run = up(registry, "--log-format", "json")

    assert registry.ours == registry.lines("app", "new", ip=OTHER_IP)
    assert [(line["msg"], line["host"]) for line in record_lines(run)] == [
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

    run = up(registry, "--log-format", "json")

    assert registry.ours == registry.lines("app")
    lines = {line["msg"]: line for line in record_lines(run)}
    assert lines["invalid annotation"] == {
        "level": "WARN",
        "msg": "invalid annotation",
        "ingress": f"{registry.stage.name}/broken",
        "annotation": "pihole.io/target-ip",
        "value": "192.168.9.999",
        "error": "pihole.io/target-ip is '192.168.9.999', but must be an IPv4 address, optionally a"
        " comma and an IPv6 address",
    }
    assert lines["ingress skipped (no hosts)"] == {
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

    run = up(registry, "--log-format", "json", "--report", str(report), code=6)
    registry.pihole.heal()

    failures = json.loads(report.read_text())["failures"]
    assert [(failure["target"], failure["class"]) for failure in failures] == [
        ("pihole", "temporary")
    ] * 2
    assert '"msg":"pi-hole api error"' in run.err.replace('": "', '":"')


@contextmanager
def watching(registry: Registry) -> Iterator[str]:
    """Run a watcher and yield its URL."""
    stage = registry.stage
    watch = ("watch", "--stack", stage.name, "--listen", "127.0.0.1:0", "--log-format", "json")
    election = ("--leader-elect", "--lease-namespace", stage.name)
    command = (str(stage.workspace.python), "-m", "pic", *watch, *election)
    with stage.workspace.start(*command) as process:
        assert process.stdout
        matches = (PORT.search(line) for line in process.stdout)
        yield f"http://127.0.0.1:{next(match[1] for match in matches if match)}"
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


def fetch(url: str) -> tuple[int, str]:
    try:
        with urlopen(url, timeout=5) as answer:  # noqa: S310 - a server of this test
            return int(answer.status), answer.read().decode()
    except HTTPError as error:
        return error.code, ""


def test_a_watcher_is_ready_soon_follows_every_change_and_stays_small(registry: Registry) -> None:
    registry.register("web", "app")

    def until_registered(*words: str) -> None:
        until(lambda: registry.ours == registry.lines(*words), f"records of {words}", 60)

    with watching(registry) as url:
        until(lambda: fetch(f"{url}/readyz")[0] == HTTPStatus.OK, "the watcher is ready", 30)
        until_registered("app")
        registry.register("shop", "shop")
        until_registered("app", "shop")
        registry.stage.ingress("web", "app")
        until_registered("shop")
        health, _ = fetch(f"{url}/healthz")
        _, metrics = fetch(f"{url}/metrics")

    match = RESIDENT.search(metrics)
    assert (health, match is not None and float(match[1]) < MAX_BYTES) == (HTTPStatus.OK, True)
