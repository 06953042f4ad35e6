"""Removals share their looks, and none is believed without one."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from dev.pangolin_api import Fault, Pangolin
from pic.core.errors import FailureClass, PangolinError
from pic.pangolin_api.client import Client
from pic.pangolin_api.removing import Removals
from tests.support.pangolin_client import fails, pangolin, wanted

HOSTS = [f"app-{index}.example.com" for index in range(24)]


def filled(server: Pangolin, client: Client) -> list[int]:
    ids = [client.create(wanted(host)) for host in HOSTS]
    server.log.clear()
    return ids


def reads(server: Pangolin) -> int:
    return sum(entry.method == "GET" for entry in server.log)


def test_many_removals_share_a_few_looks() -> None:
    with pangolin() as (server, client), ThreadPoolExecutor(24) as pool:
        removals = Removals(client)
        list(pool.map(removals.remove, filled(server, client)))
        assert (server.store.resources, len(server.writes)) == ({}, 24)
        # How many share one depends on the threads, but never does each have its own.
        assert reads(server) <= len(HOSTS) / 2


def test_a_resource_that_is_still_there_is_told() -> None:
    with pangolin() as (server, client):
        ids = filled(server, client)
        server.inject(Fault("answer", method="DELETE", status=200, body={"data": None}))
        with fails(FailureClass.TEMPORARY, "Pangolin still has resource 1, although it has"):
            Removals(client).remove(ids[0])


def test_a_failed_delete_leaves_no_other_one_waiting() -> None:
    with pangolin() as (server, client), ThreadPoolExecutor(6) as pool:
        ids = filled(server, client)[:6]
        server.inject(Fault("answer", method="DELETE", path="/3$", times=9, status=400))
        removals = Removals(client)
        results = [pool.submit(removals.remove, number) for number in ids]
        errors = [result.exception() for result in results]
        assert [error is None for error in errors] == [number != 3 for number in ids]


def test_a_look_that_fails_is_the_error_of_all_that_wait_for_it() -> None:
    with pangolin() as (server, client):
        ids = filled(server, client)
        server.inject(Fault("answer", method="GET", times=99, status=400))
        with pytest.raises(PangolinError):
            Removals(client).remove(ids[0])
        assert ids[0] not in server.store.resources
