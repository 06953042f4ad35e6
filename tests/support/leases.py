"""Fakes an API server that has Leases, and clocks that a test moves."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from pic.cluster.listing import StatusError
from pic.core.errors import ClusterError
from pic.core.json_values import Raw, mapping, text
from pic.watch.leader import Leader

COLLECTION = "/apis/coordination.k8s.io/v1/namespaces/pic/leases"
PATH = f"{COLLECTION}/prod"
NO_ANSWER = ClusterError("no answer")
START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@dataclass
class FakeTime:
    """A steady clock, and a wall clock that may jump or stand still.

    Attributes:
        jump: The error of the wall clock.
        stopped: The wall clock stands still.
    """

    seconds: float = 0.0
    jump: timedelta = timedelta()
    stopped: bool = False

    def clock(self) -> float:
        return self.seconds

    def wall(self) -> datetime:
        return START + self.jump + timedelta(seconds=0 if self.stopped else self.seconds)


def do_nothing(_: str) -> None:
    pass


@dataclass
class Leases:
    """Creates and replaces as the API server does: a write over an unseen version is a conflict.

    Attributes:
        before: Called with the method before a request takes effect; may raise.
        after: The same, after a request has taken effect and before its answer is sent.
        methods: The method of each request.
    """

    objects: dict[str, Raw] = field(default_factory=dict)
    before: Callable[[str], None] = do_nothing
    after: Callable[[str], None] = do_nothing
    methods: list[str] = field(default_factory=list)
    version: int = 0

    @property
    def spec(self) -> Raw:
        """The spec of the one Lease."""
        return mapping(self.objects[PATH]["spec"], "spec")

    def get(self, path: str) -> object:
        return self.request("GET", path, None)

    def now(self) -> str:
        return "2026-11-28T12:00:00Z"

    def request(self, method: str, path: str, body: object) -> object:
        self.methods.append(method)
        self.before(method)
        handler = {"GET": self._get, "POST": self._create, "PUT": self._replace}[method]
        answer = handler(path, mapping(body, "body"))
        self.after(method)
        return answer

    def _get(self, path: str, _: Raw) -> Raw:
        if path not in self.objects:
            raise StatusError(404, 'leases "prod" not found')
        return self.objects[path]

    def _create(self, path: str, body: Raw) -> Raw:
        metadata = mapping(body["metadata"], "metadata")
        object_path = f"{path}/{metadata['name']}"
        if object_path in self.objects:
            raise StatusError(409, "it already exists")
        return self._store(object_path, {**metadata, "uid": "u-1"}, body)

    def _replace(self, path: str, body: Raw) -> Raw:
        metadata = mapping(body["metadata"], "metadata")
        old = mapping(self._get(path, body)["metadata"], "metadata")
        if metadata.get("resourceVersion") != old["resourceVersion"]:
            raise StatusError(409, "the object has been modified")
        # The API server keeps the version of an object that a write does not change.
        if body["spec"] == self.objects[path]["spec"]:
            return self.objects[path]
        return self._store(path, metadata, body)

    def _store(self, path: str, metadata: Raw, body: Raw) -> Raw:
        self.version += 1
        metadata = {**metadata, "resourceVersion": text(self.version)}
        self.objects[path] = {**body, "metadata": metadata}
        return self.objects[path]


def contender(name: str, leases: Leases, time: FakeTime) -> Leader:
    return Leader(leases, "pic", "prod", name, time.clock, time.wall)


def two_contenders(leases: Leases, time: FakeTime) -> tuple[Leader, Leader]:
    return contender("a", leases, time), contender("b", leases, time)


def failing(error: Exception, *methods: str) -> Callable[[str], None]:
    def fail(method: str) -> None:
        if method in methods:
            raise error

    return fail
