from pic.core.model import (
    Ingress,
    IngressPath,
    PathType,
    ServiceBackend,
    Target,
)
from pic.core.notices import Notice, Reason, Ref
from pic.planning.backends import Resolver
from pic.planning.claims import Claim
from pic.planning.notice_log import NoticeLog
from pic.planning.paths import ROOT, PathMatch
from pic.planning.routes import Routes, order
from pic.settings.parse import Settings

HOST = "app.example.com"
RESOLVER = Resolver(None, Settings())
WEB = ServiceBackend("web", 80)
ADDRESS = "web.prod.svc.cluster.local"


def claim(*paths: str, default: ServiceBackend | None = None) -> Claim:
    ingress = Ingress("prod", "web", "uid-1", default_backend=default)
    found = tuple(IngressPath(path, PathType.PREFIX, WEB) for path in paths)
    return Claim(HOST, ingress, paths=found)


def test_targets_come_as_they_were_written_and_sort_by_priority_then_path() -> None:
    found, notices = Routes(HOST), NoticeLog()

    found.add(claim("/", "/b", "/a", "/long"), RESOLVER, notices)

    targets = [target for target, _, _ in found.targets]
    assert [target.path for target in targets] == [None, "^/b(/|$)", "^/a(/|$)", "^/long(/|$)"]
    assert [target.path for target in sorted(targets, key=order)] == [
        "^/long(/|$)",
        "^/a(/|$)",
        "^/b(/|$)",
        None,
    ]
    assert notices.sorted() == ()


def test_a_default_backend_takes_the_root_where_nothing_else_does() -> None:
    found, notices = Routes(HOST), NoticeLog()
    alone = claim(default=WEB)

    found.add(alone, RESOLVER, notices)
    found.add_default(alone, RESOLVER, notices)

    assert found.targets == [(Target(ADDRESS, 80, "http"), ROOT, alone.ingress)]
    assert (found.flaws, notices.sorted()) == (set(), ())


def test_a_broken_root_is_a_root_all_the_same() -> None:
    found, notices = Routes(HOST), NoticeLog()
    broken = Claim(
        HOST,
        Ingress("prod", "web", "uid-1", default_backend=WEB),
        paths=(IngressPath("/", PathType.PREFIX, None),),
    )

    found.add(broken, RESOLVER, notices)
    found.add_default(broken, RESOLVER, notices)

    assert (found.targets, found.flaws) == ([], {Reason.BACKEND_INVALID})


def test_an_equal_path_that_came_earlier_stands() -> None:
    found, notices = Routes(HOST), NoticeLog()

    found.add(claim("/a", "/a/"), RESOLVER, notices)

    assert [route for _, route, _ in found.targets] == [PathMatch("^/a(/|$)", "regex", 106, 2)]
    assert notices.sorted() == (
        Notice(
            Reason.DUPLICATE_PATH,
            Ref("Ingress", "prod", "web"),
            "the path /a/ (Prefix) is there already, and the earlier one of the older Ingress"
            " stands",
            HOST,
        ),
    )
