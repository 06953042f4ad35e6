"""Collects the targets of one public host: every path of its claims with its backend.

The first of equal paths wins, in the order of the claims. A path whose backend cannot be used is a
flaw: it is left out, and `pic.planning.merge` decides what that means for the host.
"""

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from pic.core.ingress import Backend, Ingress, IngressPath
from pic.core.model import Target
from pic.core.notices import Reason
from pic.planning import paths
from pic.planning.backends import BackendError, Resolver
from pic.planning.claims import Claim
from pic.planning.notice_log import NoticeLog, Problem
from pic.planning.paths import PathMatch


class Route(NamedTuple):
    """A target with the path that leads to it, and the Ingress that has the path."""

    target: Target
    match: PathMatch
    ingress: Ingress


@dataclass(slots=True)
class Routes:
    """The routes of one host.

    Attributes:
        routes: The usable ones, in the order of the claims and their paths.
        flaws: Why other paths are missing.
    """

    host: str
    resolver: Resolver
    notices: NoticeLog
    routes: list[Route] = field(default_factory=list)
    flaws: set[Reason] = field(default_factory=set)
    _taken: set[tuple[str | None, str | None]] = field(default_factory=set)
    _defaulted: bool = False

    def add(self, claim: Claim) -> None:
        """Add every path of a claim, except those that an earlier path equals."""
        for path in claim.paths:
            self._add_path(path, claim)
        if not claim.paths and claim.ingress.default_backend is None:
            message = f"{self.host} has no paths and no default backend: add one of them"
            self._flaw(claim, Problem(Reason.NO_PATHS, message, self.host))

    def add_default(self, claim: Claim) -> None:
        """Add the default backend of a claim's Ingress, if the root path is still free."""
        backend = claim.ingress.default_backend
        if backend is None:
            return
        # This key is the root, such as Prefix `/`. Exact `/` has another key: it matches one path.
        if (None, None) not in self._taken:
            self._taken.add((None, None))
            self._defaulted = True
            self._resolve(backend, paths.ROOT, "the default backend", claim)
        elif self._defaulted:
            message = f"the default backend of an older Ingress already serves {self.host}"
            self.notices.add(claim.ingress, Problem(Reason.DUPLICATE_PATH, message, self.host))

    def _add_path(self, path: IngressPath, claim: Claim) -> None:
        try:
            match = paths.translate(path.path, path.kind, regex=claim.options.path_regex)
        except paths.UnusablePathError as error:
            message = f"path {path.path[:80]!r} is not usable: {error}"
            self._flaw(claim, Problem(Reason.INVALID_PATH, message, self.host))
            return
        written = f"path {path.path or '/'}"
        key = (match.match, match.path)
        if key in self._taken:
            message = (
                f"{written} ({path.kind}) appears more than once for this host: the first one of"
                " the oldest Ingress wins"
            )
            self.notices.add(claim.ingress, Problem(Reason.DUPLICATE_PATH, message, self.host))
            return
        # A path is taken before its backend is looked at, so that a broken backend does not give
        # its path to another Ingress.
        self._taken.add(key)
        self._resolve(path.backend, match, written, claim)

    def _resolve(self, backend: Backend | None, match: PathMatch, where: str, claim: Claim) -> None:
        try:
            target = self.resolver.resolve(backend, claim.ingress.namespace, claim.options.scheme)
        except BackendError as error:
            problem = replace(error.problem, message=f"{where}: {error}", host=self.host)
            self._flaw(claim, problem)
            return
        target = replace(target, path=match.path, match=match.match, priority=match.priority)
        self.routes.append(Route(target, match, claim.ingress))

    def _flaw(self, claim: Claim, problem: Problem) -> None:
        self.flaws.add(problem.reason)
        self.notices.add(claim.ingress, problem)


def order(target: Target) -> tuple[int, str, str]:
    """Sort by descending priority, then by path; the target of the whole host comes last."""
    return -(target.priority or 0), target.path or "", target.match or ""


def report_ambiguity(routes: Routes) -> None:
    """Report paths that the proxy may confuse, or match in any order."""
    _report_ties(routes)
    _report_collisions(routes)


def _report_ties(routes: Routes) -> None:
    tied = [route for route in routes.routes if route.target.priority == paths.HIGHEST_PRIORITY]
    # Two paths of the same type and length always have the same priority. This is about paths that
    # share one only because of the cap.
    if len(tied) < 2 or not any(route.match.capped for route in tied):
        return
    for target, _, ingress in tied:
        message = (
            f"{len(tied)} paths have the highest priority, so the proxy may match them in any"
            f" order: shorten {str(target.path)[:60]}…"
        )
        routes.notices.add(ingress, Problem(Reason.PATH_TOO_LONG, message, routes.host))


def _report_collisions(routes: Routes) -> None:
    by_key: dict[str, list[tuple[str, Ingress]]] = defaultdict(list)
    for target, _, ingress in routes.routes:
        if target.path is not None:
            by_key[paths.proxy_key(target.path)].append((target.path, ingress))
    for same_key in by_key.values():
        texts = sorted({path for path, _ in same_key})
        for path, ingress in same_key if len(texts) > 1 else ():
            others = ", ".join(text[:80] for text in texts if text != path)
            message = (
                f"older Pangolin releases confuse path {path[:80]} with {others}: upgrade Pangolin,"
                f" or make them differ in the first {paths.KEY_LENGTH} characters"
            )
            routes.notices.add(ingress, Problem(Reason.PATH_KEY_COLLISION, message, routes.host))
