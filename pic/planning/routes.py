"""The targets of one public host: its paths in order, each with its backend. No I/O."""

from collections import defaultdict
from dataclasses import dataclass, field, replace

from pic.core.model import (
    Backend,
    Ingress,
    IngressPath,
    Target,
)
from pic.core.notices import Reason
from pic.planning import paths
from pic.planning.backends import BackendError, Resolver
from pic.planning.claims import Claim
from pic.planning.notice_log import NoticeLog, Problem
from pic.planning.paths import PathMatch


@dataclass(slots=True)
class Routes:
    """What the claims on one host add up to.

    Attributes:
        targets: The good ones, in the order in which they were written, with their Ingresses.
        flaws: Why other paths are missing.
    """

    host: str
    targets: list[tuple[Target, PathMatch, Ingress]] = field(default_factory=list)
    flaws: set[Reason] = field(default_factory=set)
    _seen: set[tuple[str | None, str | None]] = field(default_factory=set)
    _defaulted: bool = False

    def add(self, claim: Claim, resolver: Resolver, notices: NoticeLog) -> None:
        """Add every path of a claim; an equal path that came earlier wins."""
        for path in claim.paths:
            self._add_path(path, claim, resolver, notices)
        if not claim.paths and claim.ingress.default_backend is None:
            problem = Problem(Reason.NO_PATHS, f"{self.host} has no paths", self.host)
            self._flaw(claim, problem, notices)

    def add_default(self, claim: Claim, resolver: Resolver, notices: NoticeLog) -> None:
        """Add the default backend of a claim's Ingress, where nothing takes the root yet."""
        backend = claim.ingress.default_backend
        if backend is None:
            return
        if (None, None) not in self._seen:
            self._seen.add((None, None))
            self._defaulted = True
            self._resolve(backend, paths.ROOT, claim, resolver, notices)
        elif self._defaulted:
            message = "the default backend of the older Ingress stands"
            notices.add(claim.ingress, Problem(Reason.DUPLICATE_PATH, message, self.host))

    def _add_path(
        self, path: IngressPath, claim: Claim, resolver: Resolver, notices: NoticeLog
    ) -> None:
        try:
            route = paths.translate(path.path, path.kind, regex=claim.wishes.path_regex)
        except paths.UnusablePathError as error:
            message = f"the path {path.path[:80]!r}: {error}"
            self._flaw(claim, Problem(Reason.INVALID_PATH, message, self.host), notices)
            return
        key = (route.match, route.path)
        if key in self._seen:
            written = f"{path.path or '/'} ({path.kind})"
            message = (
                f"the path {written} is there already, and the earlier one of the older Ingress"
                " stands"
            )
            notices.add(claim.ingress, Problem(Reason.DUPLICATE_PATH, message, self.host))
            return
        self._seen.add(key)
        self._resolve(path.backend, route, claim, resolver, notices)

    def _resolve(
        self,
        backend: Backend | None,
        route: PathMatch,
        claim: Claim,
        resolver: Resolver,
        notices: NoticeLog,
    ) -> None:
        try:
            target = resolver.resolve(backend, claim.ingress.namespace, claim.wishes.scheme)
        except BackendError as error:
            where = f"the path {route.path}" if route.path else "the root path"
            problem = replace(error.problem, message=f"{where}: {error}", host=self.host)
            self._flaw(claim, problem, notices)
            return
        target = replace(target, path=route.path, match=route.match, priority=route.priority)
        self.targets.append((target, route, claim.ingress))

    def _flaw(self, claim: Claim, problem: Problem, notices: NoticeLog) -> None:
        self.flaws.add(problem.reason)
        notices.add(claim.ingress, problem)


def order(target: Target) -> tuple[int, str, str]:
    """Sort the highest priority first, then by path; the whole host comes last."""
    return -(target.priority or 0), target.path or "", target.match or ""


def remark(routes: Routes, notices: NoticeLog) -> None:
    """Tell of targets that the proxy may not tell apart."""
    _tell_ties(routes, notices)
    _tell_collisions(routes, notices)


def _tell_ties(routes: Routes, notices: NoticeLog) -> None:
    highest = [
        (target, route.capped, ingress)
        for target, route, ingress in routes.targets
        if target.priority == paths.HIGHEST_PRIORITY
    ]
    if len(highest) < 2 or not any(capped for _, capped, _ in highest):
        return
    for target, _, ingress in highest:
        message = (
            f"{len(highest)} paths share the highest priority, so their order is open;"
            f" one is {str(target.path)[:60]}…"
        )
        notices.add(ingress, Problem(Reason.PATH_TOO_LONG, message, routes.host))


def _tell_collisions(routes: Routes, notices: NoticeLog) -> None:
    by_key: dict[str, list[tuple[str, Ingress]]] = defaultdict(list)
    for target, _, ingress in routes.targets:
        if target.path is not None:
            by_key[paths.proxy_key(target.path)].append((target.path, ingress))
    for found in by_key.values():
        texts = sorted({path for path, _ in found})
        for path, ingress in found if len(texts) > 1 else ():
            others = ", ".join(each[:80] for each in texts if each != path)
            message = f"older releases of Pangolin cannot tell the path {path[:80]} from {others}"
            notices.add(ingress, Problem(Reason.PATH_KEY_COLLISION, message, routes.host))
