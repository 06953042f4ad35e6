"""The provider of public hosts on the real engine: no moment with a host open or lost."""

import os
import random
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from dev.pangolin_api import Fault
from dev.toolchain import Toolchain
from pic.pangolin_api.connection import KEY
from pic.pangolin_api.model import Wanted
from tests.engine.public_hosts import Publisher, set_publisher
from tests.support.pangolin_api import Caller
from tests.support.pangolin_client import OTHER, TARGET, wanted
from tests.support.waiting import until, until_moment

HOSTS = [f"app-{number}.example.com" for number in range(20)]


@pytest.fixture
def publisher(tools: Toolchain) -> Iterator[Publisher]:
    with set_publisher(tools) as publisher:
        yield publisher


def hosts(count: int = 20, **fields: object) -> list[Wanted]:
    return [wanted(host, **fields) for host in HOSTS[:count]]


def test_the_life_of_twenty_hosts_has_no_moment_that_is_open_or_lost(publisher: Publisher) -> None:
    server = publisher.server
    opened = hosts(sso=False, targets=(TARGET, replace(OTHER, path="/api", match="prefix")))
    for change in (hosts(), hosts(targets=(OTHER,)), opened, hosts(), hosts(12), []):
        publisher.declare(change)
        done = publisher.up()
        assert done.code == 0, done.printed
        expected = {want.host: "login" if want.sso else "open" for want in change}
        assert {host: server.reach(host) for host in publisher.ids()} == expected
    assert server.most_at_once <= 4

    server.log.clear()
    assert publisher.up().code == 0
    assert server.log == []


def test_what_the_dashboard_changed_or_deleted_comes_back(publisher: Publisher) -> None:
    publisher.declare(hosts(3))
    publisher.up()
    ids, edit = publisher.ids(), Caller(publisher.server)
    publisher.before, publisher.declared = {}, {}  # what the dashboard does is no violation
    edit("DELETE", f"/resource/{ids[HOSTS[0]]}")
    edit("POST", f"/resource/{ids[HOSTS[1]]}", {"sso": False, "stickySession": True})

    assert publisher.up("--refresh").code == 0

    server = publisher.server
    assert [server.reach(host) for host in HOSTS[:3]] == ["login"] * 3
    assert server.store.resources[ids[HOSTS[1]]]["stickySession"], "pic does not own this field"
    assert publisher.ids().keys() == ids.keys()


def test_an_import_takes_a_resource_over_and_changes_it(publisher: Publisher) -> None:
    number = Caller(publisher.server).create("app-0")
    publisher.declare(hosts(1), {HOSTS[0]: str(number)})

    assert publisher.up().code == 0
    assert (publisher.ids(), publisher.server.reach(HOSTS[0])) == ({HOSTS[0]: number}, "login")


def test_a_refusal_is_one_sentence_and_the_next_run_finishes(publisher: Publisher) -> None:
    server = publisher.server
    publisher.declare(hosts(2))

    wrong = publisher.up(**{KEY: "wrong.key"})
    server.inject(Fault("answer", times=99, path="/org/", status=404, body="<html></html>"))
    strange = publisher.up()
    server.heal()
    server.inject(Fault("answer", path="/target$", times=99, status=400, body={"message": "no"}))
    partial = publisher.up()
    ids = publisher.ids()
    server.heal()
    done = publisher.up()

    assert "Pangolin does not accept the key in PANGOLIN_API_KEY (Invalid API key)" in str(wrong)
    assert "is no route of this server (404, not JSON)" in str(strange)
    assert "/target with 400: no [invalid]" in str(partial)
    assert ids.keys() == set(HOSTS[:2])
    assert (done.code, publisher.ids()) == (0, ids)
    assert [server.reach(host) for host in HOSTS[:2]] == ["login"] * 2


def _plugins(publisher: Publisher) -> list[int]:
    return _running(publisher, "pic.pangolin_api.plugin")


def _engines(publisher: Publisher) -> list[int]:
    return _running(publisher, str(publisher.project.tools.pulumi))


def _running(publisher: Publisher, word: str) -> list[int]:
    def command(pid: int) -> str:
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes().decode().replace("\0", " ")
        except OSError:
            return ""

    return [pid for pid in publisher.project.processes() if word in command(pid)]


def _kill(pids: Sequence[int]) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("find", [_plugins, _engines], ids=["plugin", "engine"])
def test_a_run_that_is_killed_is_healed_by_the_next_one(
    publisher: Publisher, find: Callable[[Publisher], Sequence[int]]
) -> None:
    server, dice = publisher.server, random.Random(15)  # noqa: S311 - no secret
    # First in the middle of creates, then in the middle of updates.
    for change in (hosts(), hosts(targets=(OTHER,))):
        publisher.declare(change)
        server.log.clear()
        moment = dice.randrange(5, 30)
        with publisher.project.start(
            *publisher.project.pulumi_command("up", "--yes", "--skip-preview")
        ) as process:
            until_moment(lambda: len(server.writes) >= moment, "some requests are sent")  # noqa: B023
            _kill(find(publisher))
            process.communicate(timeout=60)
        until(lambda: not publisher.project.processes(), "an orphan ends")
        publisher.project.pulumi("cancel", "--yes", check=False)
        done = publisher.up()
        assert done.code == 0, done.printed
        assert publisher.ids().keys() == set(HOSTS)
        backends = {backend for route in server.routes for backend in route.backends}
        assert backends == {f"http://{it.ip}:{it.port}" for it in change[0].targets}
        assert {server.reach(host) for host in HOSTS} == {"login"}


def test_a_change_that_failed_and_is_taken_back_leaves_no_host_open(publisher: Publisher) -> None:
    server = publisher.server
    publisher.declare(hosts(2))
    publisher.up()
    publisher.declare(hosts(2, sso=False))
    # The login goes, but Pangolin says that it has not gone.
    server.inject(Fault("answer", effect=True, method="POST", times=99, status=400))
    failed = publisher.up()
    server.heal()
    publisher.declare(hosts(2))
    back = publisher.up()

    assert (failed.code != 0, back.code) == (True, 0)
    assert [server.reach(host) for host in HOSTS[:2]] == ["login"] * 2
