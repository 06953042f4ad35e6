"""Following a collection, over every way in which a connection can end."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from pic.cluster.listing import Listing
from pic.core import logs
from pic.core.errors import ClusterError
from pic.settings import kinds
from pic.watch.follower import Follower, FollowerTimes, following
from pic.watch.problem_log import ProblemLog
from pic.watch.store import Store
from tests.support.waiting import until
from tests.support.watched import FakeCollection, Fault, serving

SERVICES = Listing(kinds.BY_NAME[kinds.SERVICE])
HASTE = FollowerTimes(chance=lambda: 0.0, first=0.01, longest=0.02)


@dataclass
class Following:
    """A server, what is known of it, and what was complained of."""

    served: FakeCollection
    cache: Store
    said: list[tuple[int, str]] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        return sorted(each["metadata"]["name"] for each in self.services)  # type: ignore[index]

    @property
    def services(self) -> list[object]:
        return list(self.cache.objects()[1][kinds.SERVICE])

    @property
    def is_known(self) -> bool:
        return self.cache.news().complete

    def tell(self, level: int, words: str) -> None:
        self.said.append((level, words))

    def until_names(self, *names: str) -> None:
        until(lambda: self.is_known and self.names == sorted(names), f"{names} are known")

    def asked(self, word: str) -> int:
        return sum(("watch=1" in each) == (word == "watch") for each in self.served.asked)


@contextmanager
def follow(served: FakeCollection, waits: FollowerTimes = HASTE) -> Iterator[Following]:
    cache = Store([SERVICES], lambda: 1.0, lambda: None)
    found = Following(served, cache)
    transport = served.transport()
    with following([SERVICES], transport, cache, found.tell, waits):
        yield found
    transport.pool.clear()


@pytest.fixture
def served() -> Iterator[FakeCollection]:
    with serving("Service", SERVICES.path) as made:
        made.put("web")
        yield made


def test_what_is_there_is_listed_and_then_watched_from_that_version(served: FakeCollection) -> None:
    with follow(served) as known:
        known.until_names("web")
        served.put("api")
        served.delete("web")
        known.until_names("api")

    assert served.asked == [
        f"{SERVICES.path}?limit=100",
        f"{SERVICES.path}?watch=1&allowWatchBookmarks=true&resourceVersion=1&timeoutSeconds=240",
    ]
    assert known.said == []


def test_only_what_planning_looks_at_is_kept(served: FakeCollection) -> None:
    served.put("web", ports=[{"port": 80, "nodePort": 30000}], sessionAffinity="None")

    with follow(served) as known:
        known.until_names("web")

    assert known.services == [
        {
            "metadata": {"namespace": "prod", "name": "web"},
            "spec": {"ports": [{"port": 80}]},
        }
    ]


def test_a_watch_that_ends_goes_on_from_the_last_version(served: FakeCollection) -> None:
    with follow(served) as known:
        known.until_names("web")
        served.put("api")
        known.until_names("api", "web")
        served.bookmark()
        served.end_watches()
        until(lambda: known.asked("watch") == 2, "a second watch")
        served.put("new")
        known.until_names("api", "new", "web")

    assert "resourceVersion=3" in served.asked[-1] or "resourceVersion=2" in served.asked[-1]
    assert known.asked("list") == 1


def test_a_version_that_is_too_old_is_listed_anew_which_shows_deletions(
    served: FakeCollection,
) -> None:
    with follow(served) as known:
        known.until_names("web")
        until(lambda: served.opened == 1, "it is watched")
        served.objects.clear()
        served.put("api")
        served.forget()
        served.order("watch", Fault(status=410))
        served.end_watches()
        known.until_names("api")
        until(lambda: known.asked("watch") == 3, "it is watched again")

    assert known.asked("list") == 2
    assert known.said == []


def test_an_event_that_says_too_old_is_the_same(served: FakeCollection) -> None:
    served.put("api")

    with follow(served) as known:
        known.until_names("api", "web")
        until(lambda: served.opened == 1, "it is watched")
        served.order("watch", *[Fault(status=503)] * 200)
        served.end_watches()
        until(lambda: not known.is_known, "it is not known")
        served.delete("api")
        served.forget()
        served.faults["watch"].clear()
        known.until_names("web")

    assert known.asked("list") >= 2


def test_a_line_that_breaks_off_is_sent_again(served: FakeCollection) -> None:
    with follow(served) as known:
        known.until_names("web")
        until(lambda: served.opened == 1, "it is watched")
        served.order("watch", Fault(lines=b'{"type": "ADDED", "obj', cut=True))
        served.end_watches()
        served.put("api")
        known.until_names("api", "web")

    assert known.said == []


def test_an_api_server_that_is_not_well_is_complained_of_once(served: FakeCollection) -> None:
    served.order("list", *[Fault(status=500)] * 3)

    with follow(served) as known:
        known.until_names("web")

    assert known.said == [
        (
            logs.WARN,
            "cannot list services in all namespaces: no list (HTTP 500); run again when the API"
            " server is well",
        ),
        (logs.INFO, "the cluster is followed again"),
    ]


def test_while_it_is_not_known_what_is_there_nothing_is(served: FakeCollection) -> None:
    with follow(served) as known:
        known.until_names("web")
        until(lambda: served.opened == 1, "it is watched")
        served.order("watch", *[Fault(status=503)] * 200)
        served.end_watches()
        until(lambda: not known.is_known, "it is not known")
        served.faults["watch"].clear()
        known.until_names("web")
        until(lambda: len(known.said) == 2, "all is well")

    assert [level for level, _ in known.said] == [logs.WARN, logs.INFO]


def test_a_kind_that_goes_away_and_comes_back_is_waited_for(served: FakeCollection) -> None:
    with follow(served) as known:
        known.until_names("web")
        until(lambda: served.opened == 1, "it is watched")
        served.delete("web")
        served.order("watch", *[Fault(status=404)] * 8)
        served.order("list", *[Fault(status=404)] * 3)
        served.end_watches()
        until(lambda: not known.is_known, "it is not known")
        served.put("back")
        known.until_names("back")

    verbs = [words.split()[1] for level, words in known.said if level == logs.WARN]
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
def test_what_cannot_be_understood_is_asked_again(served: FakeCollection, line: bytes) -> None:
    served.order("watch", Fault(lines=line), Fault(lines=line))

    with follow(served) as known:
        until(lambda: known.asked("watch") == 3, "it is watched again")
        served.put("api")
        known.until_names("api", "web")

    assert known.said[0][0] == logs.WARN


def test_watches_that_end_at_once_are_asked_with_pauses(served: FakeCollection) -> None:
    served.order("watch", *[Fault(lines=b"")] * 7)

    with follow(served) as known:
        known.until_names("web")
        served.put("api")
        known.until_names("api", "web")

    assert known.asked("watch") == 8


def test_a_listing_without_a_version_is_none(served: FakeCollection) -> None:
    served.order("list", Fault(lines=b""), Fault(lines=b""))

    with follow(served) as known:
        known.until_names("web")

    assert known.said[0] == (
        logs.WARN,
        "listing services in all namespaces gave no resource version",
    )


def test_one_that_waits_is_ended_at_once(served: FakeCollection) -> None:
    served.order("list", *[Fault(status=500)] * 100)

    with follow(served, FollowerTimes(chance=lambda: 1.0, first=600.0)) as known:
        until(lambda: known.said, "it waits")

    assert known.asked("list") == 1


@pytest.mark.parametrize(("failures", "wait"), [(1, 0.5), (2, 1.0), (6, 15.0), (100, 15.0)])
def test_waits_double_up_to_a_bound(failures: int, wait: float) -> None:
    assert FollowerTimes(chance=lambda: 0.0).after(failures) == wait


def test_a_stream_that_has_ended_can_be_stopped(served: FakeCollection) -> None:
    served.order("watch", Fault(lines=b'{"a": 1}\n{"b": 2}\n{"c"'))
    transport = served.transport()
    stream = transport.stream(f"{SERVICES.path}?watch=1&resourceVersion=1", 1.0)

    assert list(stream) == [{"a": 1}, {"b": 2}]
    stream.stop()
    stream.close()
    transport.pool.clear()


def test_silence_breaks_a_connection(served: FakeCollection) -> None:
    transport = served.transport()
    stream = transport.stream(f"{SERVICES.path}?watch=1&resourceVersion=1", 0.05)

    with pytest.raises(ClusterError, match="Read timed out"):
        list(stream)
    stream.close()
    transport.pool.clear()


@dataclass
class Late:
    """A server that answers when nobody wants it any more."""

    stop_feed: list[Follower] = field(default_factory=list)
    closed: bool = False

    def get(self, _path: str) -> object:
        return {"kind": "ServiceList", "metadata": {"resourceVersion": "1"}, "items": []}

    def request(self, _method: str, _path: str, _body: object) -> object:
        raise NotImplementedError

    def stream(self, _path: str, _silence: float) -> "Late":
        self.stop_feed[0].stop()
        return self

    def __iter__(self) -> Iterator[object]:
        raise NotImplementedError

    def stop(self) -> None:
        raise NotImplementedError

    def close(self) -> None:
        self.closed = True


def test_a_watch_that_opens_too_late_is_closed() -> None:
    late = Late()
    cache = Store([SERVICES], lambda: 1.0, lambda: None)
    feed = Follower(SERVICES, late, cache, ProblemLog(lambda *_: None), HASTE)
    late.stop_feed.append(feed)

    feed.run()

    assert late.closed
