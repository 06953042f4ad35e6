"""Tests which target each path of a host gets, and in which order."""

from pic.core.ingress import Ingress, IngressPath, PathType, ServiceBackend
from pic.core.model import Target
from pic.core.notices import Notice, Reason, Ref
from pic.planning.backends import Resolver
from pic.planning.claims import Claim
from pic.planning.notice_log import NoticeLog
from pic.planning.paths import ROOT, PathMatch
from pic.planning.routes import Route, Routes, order
from pic.settings.parse import Settings

HOST = "app.example.com"
RESOLVER = Resolver(None, Settings())
WEB = ServiceBackend("web", 80)
ADDRESS = "web.prod.svc.cluster.local"


def claim(*paths: str, default: ServiceBackend | None = None) -> Claim:
    ingress = Ingress("prod", "web", "uid-1", default_backend=default)
    ingress_paths = tuple(IngressPath(path, PathType.PREFIX, WEB) for path in paths)
    return Claim(HOST, ingress, paths=ingress_paths)


def empty() -> Routes:
    return Routes(HOST, RESOLVER, NoticeLog())


def test_targets_keep_their_order_and_sort_by_priority_then_path() -> None:
    routes = empty()

    routes.add(claim("/", "/b", "/a", "/long"))

    targets = [route.target for route in routes.routes]
    assert [target.path for target in targets] == [None, "^/b(/|$)", "^/a(/|$)", "^/long(/|$)"]
    assert [target.path for target in sorted(targets, key=order)] == [
        "^/long(/|$)",
        "^/a(/|$)",
        "^/b(/|$)",
        None,
    ]
    assert routes.notices.sorted() == ()


def test_a_default_backend_takes_a_free_root() -> None:
    routes = empty()
    alone = claim(default=WEB)

    routes.add(alone)
    routes.add_default(alone)

    assert routes.routes == [
        Route(
            *(Target(ADDRESS, 80, "http"), ROOT, alone.ingress, "the default backend"),
            scheme_origin="pic:backendScheme",
        )
    ]
    assert (routes.flaws, routes.notices.sorted()) == (set(), ())


def test_a_root_with_a_broken_backend_is_not_free() -> None:
    routes = empty()
    broken = Claim(
        HOST,
        Ingress("prod", "web", "uid-1", default_backend=WEB),
        paths=(IngressPath("/", PathType.PREFIX, None),),
    )

    routes.add(broken)
    routes.add_default(broken)

    assert (routes.routes, routes.flaws) == ([], {Reason.BACKEND_INVALID})


def test_the_first_of_equal_paths_wins() -> None:
    routes = empty()

    routes.add(claim("/a", "/a/"))

    assert [route.match for route in routes.routes] == [PathMatch("^/a(/|$)", "regex", 106, 2)]
    assert routes.notices.sorted() == (
        Notice(
            Reason.DUPLICATE_PATH,
            Ref("Ingress", "prod", "web"),
            "path /a/, Prefix, appears more than once for this host: the first one of the oldest"
            " Ingress wins",
            HOST,
        ),
    )
