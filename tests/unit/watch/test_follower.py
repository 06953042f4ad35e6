"""Tests that a collection is followed over every way in which a connection can end."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
import urllib3

from pic.cluster.connection import Credentials, Stream
from pic.cluster.listing import ApiTransport, Listing, Timeouts
from pic.core import logs
from pic.core.errors import ClusterError
from pic.core.json_values import Raw, mapping
from pic.settings import kinds
from pic.watch.follower import Follower, FollowerTimes, following
from pic.watch.problem_log import ProblemLog
from pic.watch.store import Store
from tests.support.waiting import until
from tests.support.watched import FakeCollection, Fault, serving

SERVICES = Listing(kinds.BY_NAME[kinds.SERVICE])
SHORT_TIMES = FollowerTimes(chance=lambda: 0.0, first_pause=0.01, longest_pause=0.02)


@dataclass
class Following:
    """A collection, what the store knows of it, and what was logged."""

    collection: FakeCollection
    store: Store
    lines: list[tuple[int, str]] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        metadata = [mapping(raw["metadata"], "metadata") for raw in self.services]
        return sorted(str(entry["name"]) for entry in metadata)

    @property
    def services(self) -> list[Raw]:
        return list(self.store.objects()[1][kinds.SERVICE])

    @property
    def is_synced(self) -> bool:
        return self.store.take_updates().complete

    def log(self, level: int, message: str) -> None:
        self.lines.append((level, message))

    def until_names(self, *names: str) -> None:
        until(lambda: self.is_synced and self.names == sorted(names), f"{names} are stored")

    def requests(self, verb: str) -> int:
        paths = self.collection.requests
        return sum(("watch=1" in path) == (verb == "watch") for path in paths)


@contextmanager
def follow(collection: FakeCollection, times: FollowerTimes = SHORT_TIMES) -> Iterator[Following]:
    store = Store([SERVICES], lambda: 1.0, lambda: None)
    result = Following(collection, store)
    transport = collection.transport()
    with following([SERVICES], transport, store, result.log, times):
        yield result
    transport.pool.clear()


@pytest.fixture
def collection() -> Iterator[FakeCollection]:
    with serving("Service", SERVICES.path) as fake:
        fake.put("web")
        yield fake


def test_a_collection_is_listed_and_then_watched_from_that_version(
    collection: FakeCollection,
) -> None:
    with follow(collection) as result:
        result.until_names("web")
        collection.put("api")
        collection.delete("web")
        result.until_names("api")

    assert collection.requests == [
        f"{SERVICES.path}?limit=100",
        f"{SERVICES.path}?watch=1&allowWatchBookmarks=true&resourceVersion=1&timeoutSeconds=240",
    ]
    assert result.lines == []


def test_only_the_fields_that_planning_reads_are_stored(collection: FakeCollection) -> None:
    collection.put("web", ports=[{"port": 80, "nodePort": 30000}], sessionAffinity="None")

    with follow(collection) as result:
        result.until_names("web")

    assert result.services == [
        {
            "metadata": {"namespace": "prod", "name": "web"},
            "spec": {"ports": [{"port": 80}]},
        }
    ]


def test_a_new_watch_continues_from_the_last_version(collection: FakeCollection) -> None:
    with follow(collection) as result:
        result.until_names("web")
        collection.put("api")
        result.until_names("api", "web")
        collection.bookmark()
        collection.end_watches()
        until(lambda: result.requests("watch") == 2, "a second watch")
        collection.put("new")
        result.until_names("api", "new", "web")

    assert (
        "resourceVersion=3" in collection.requests[-1]
        or "resourceVersion=2" in collection.requests[-1]
    )
    assert result.requests("list") == 1


def test_a_version_that_is_too_old_leads_to_a_new_list_which_shows_deletions(
    collection: FakeCollection,
) -> None:
    with follow(collection) as result:
        result.until_names("web")
        until(lambda: collection.opened == 1, "it is watched")
        collection.objects.clear()
        collection.put("api")
        collection.forget()
        collection.order("watch", Fault(status=410))
        collection.end_watches()
        result.until_names("api")
        until(lambda: result.requests("watch") == 3, "it is watched again")

    assert result.requests("list") == 2
    assert result.lines == []


def test_an_error_event_that_says_too_old_leads_to_a_new_list(collection: FakeCollection) -> None:
    collection.put("api")

    with follow(collection) as result:
        result.until_names("api", "web")
        until(lambda: collection.opened == 1, "it is watched")
        collection.order("watch", *[Fault(status=503)] * 200)
        collection.end_watches()
        until(lambda: not result.is_synced, "it is not synced")
        collection.delete("api")
        collection.forget()
        collection.faults["watch"].clear()
        result.until_names("web")

    assert result.requests("list") >= 2


def test_an_event_that_breaks_off_is_received_again(collection: FakeCollection) -> None:
    with follow(collection) as result:
        result.until_names("web")
        until(lambda: collection.opened == 1, "it is watched")
        collection.order("watch", Fault(lines=b'{"type": "ADDED", "obj', cut=True))
        collection.end_watches()
        collection.put("api")
        result.until_names("api", "web")

    assert result.lines == []


def test_a_failing_api_server_is_reported_once(collection: FakeCollection) -> None:
    collection.order("list", *[Fault(status=500)] * 3)

    with follow(collection) as result:
        result.until_names("web")

    assert result.lines == [
        (
            logs.WARN,
            "cannot list services in all namespaces: no list (HTTP 500); try again when the API"
            " server is healthy",
        ),
        (logs.INFO, "following the cluster again"),
    ]


def test_a_collection_is_not_synced_while_its_watch_fails(collection: FakeCollection) -> None:
    with follow(collection) as result:
        result.until_names("web")
        until(lambda: collection.opened == 1, "it is watched")
        collection.order("watch", *[Fault(status=503)] * 200)
        collection.end_watches()
        until(lambda: not result.is_synced, "it is not synced")
        collection.faults["watch"].clear()
        result.until_names("web")
        until(lambda: len(result.lines) == 2, "the problem is gone")

    assert [level for level, _ in result.lines] == [logs.WARN, logs.INFO]


def test_a_follower_waits_for_a_kind_that_goes_away_and_comes_back(
    collection: FakeCollection,
) -> None:
    with follow(collection) as result:
        result.until_names("web")
        until(lambda: collection.opened == 1, "it is watched")
        collection.delete("web")
        collection.order("watch", *[Fault(status=404)] * 8)
        collection.order("list", *[Fault(status=404)] * 3)
        collection.end_watches()
        until(lambda: not result.is_synced, "it is not synced")
        collection.put("back")
        result.until_names("back")

    verbs = [line.split()[1] for level, line in result.lines if level == logs.WARN]
    assert verbs[:2] in (["watch", "list"], ["watch", "watch"])


@pytest.mark.parametrize(
    "line",
    [
        b"nothing\n",
        b'{"type": "OTHER", "object": {}}\n',
        b'{"type": "ERROR", "object": {"message": "odd"}}\n',
        b"[]\n",
    ],
)
def test_a_malformed_event_leads_to_a_new_watch(collection: FakeCollection, line: bytes) -> None:
    collection.order("watch", Fault(lines=line), Fault(lines=line))

    with follow(collection) as result:
        until(lambda: result.requests("watch") == 3, "it is watched again")
        collection.put("api")
        result.until_names("api", "web")

    assert result.lines[0][0] == logs.WARN


def test_watches_that_end_at_once_are_repeated_after_pauses(collection: FakeCollection) -> None:
    collection.order("watch", *[Fault(lines=b"")] * 7)

    with follow(collection) as result:
        result.until_names("web")
        collection.put("api")
        result.until_names("api", "web")

    assert result.requests("watch") == 8


def test_a_list_without_a_version_is_an_error(collection: FakeCollection) -> None:
    collection.order("list", Fault(lines=b""), Fault(lines=b""))

    with follow(collection) as result:
        result.until_names("web")

    assert result.lines[0] == (
        logs.WARN,
        "listing services in all namespaces gave no resource version",
    )


def test_a_follower_that_pauses_stops_at_once(collection: FakeCollection) -> None:
    collection.order("list", *[Fault(status=500)] * 100)

    with follow(collection, FollowerTimes(chance=lambda: 1.0, first_pause=600.0)) as result:
        until(lambda: result.lines, "it pauses")

    assert result.requests("list") == 1


@pytest.mark.parametrize(("failures", "pause"), [(1, 0.5), (2, 1.0), (6, 15.0), (100, 15.0)])
def test_pauses_double_up_to_a_limit(failures: int, pause: float) -> None:
    assert FollowerTimes(chance=lambda: 0.0).pause(failures) == pause


def test_a_stream_that_has_ended_can_still_be_stopped(collection: FakeCollection) -> None:
    collection.order("watch", Fault(lines=b'{"a": 1}\n{"b": 2}\n{"c"'))
    transport = collection.transport()
    stream = transport.stream(f"{SERVICES.path}?watch=1&resourceVersion=1", 1.0)

    assert list(stream) == [{"a": 1}, {"b": 2}]
    stream.stop()
    stream.close()
    transport.pool.clear()


def test_a_silent_connection_counts_as_broken(collection: FakeCollection) -> None:
    transport = collection.transport()
    stream = transport.stream(f"{SERVICES.path}?watch=1&resourceVersion=1", 0.05)

    with pytest.raises(ClusterError, match="Read timed out"):
        list(stream)
    stream.close()
    transport.pool.clear()


class LateStream(Stream):
    """A stream that may be closed, and nothing else."""

    def __init__(self) -> None:
        self.closed = False

    def __iter__(self) -> Iterator[object]:
        raise NotImplementedError

    def stop(self) -> None:
        raise NotImplementedError

    def close(self) -> None:
        self.closed = True


@dataclass(frozen=True)
class LateTransport(ApiTransport):
    """An API server that opens a watch only after the follower was stopped."""

    followers: list[Follower] = field(default_factory=list)
    late_stream: LateStream = field(default_factory=LateStream)

    def get(self, path: str) -> object:
        assert path.startswith(SERVICES.path)
        return {"kind": "ServiceList", "metadata": {"resourceVersion": "1"}, "items": []}

    def stream(self, path: str, silence: float) -> Stream:
        assert (path.startswith(SERVICES.path), silence > 0) == (True, True)
        self.followers[0].stop()
        return self.late_stream


def test_a_watch_that_opens_after_the_stop_is_closed() -> None:
    credentials = Credentials("", lambda: "")
    transport = LateTransport(urllib3.PoolManager(), "", Timeouts(), credentials)
    store = Store([SERVICES], lambda: 1.0, lambda: None)
    follower = Follower(SERVICES, transport, store, ProblemLog(lambda *_: None), SHORT_TIMES)
    transport.followers.append(follower)

    follower.run()

    assert transport.late_stream.closed
