"""Collects the targets of one public host: every path of its claims with its backend.

The first of equal paths wins, in the order of the claims. A path whose backend cannot be used is a
flaw: it is left out, and `pic.planning.merge` decides what that means for the host.
"""

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import NamedTuple, assert_never

from pic.core.ingress import Backend, Ingress, IngressPath, PathType
from pic.core.model import Target
from pic.core.notices import Reason
from pic.core.variables import not_filled_in
from pic.planning import paths
from pic.planning.annotations import PREFIX
from pic.planning.backends import BackendError, Resolver
from pic.planning.claims import Claim
from pic.planning.notice_log import NoticeLog, Problem
from pic.planning.paths import Dialect, PathMatch


class Route(NamedTuple):
    """A target with the path that leads to it, and the Ingress that has the path.

    Attributes:
        written: The path as the Ingress has it, with its place, for messages.
        scheme_origin: What decided the scheme.
    """

    target: Target
    match: PathMatch
    ingress: Ingress
    written: str
    scheme_origin: str = ""


@dataclass(slots=True)
class Routes:
    """The routes of one host.

    Attributes:
        routes: The usable ones, in the order of the claims and their paths.
        flaws: Why other paths are missing.
        broken: The paths that are missing, each with its problem.
    """

    host: str
    resolver: Resolver
    notices: NoticeLog
    routes: list[Route] = field(default_factory=list)
    flaws: set[Reason] = field(default_factory=set)
    broken: list[tuple[Ingress, Problem]] = field(default_factory=list)
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
            message = f"the default backend of another Ingress already serves {self.host}"
            self.notices.add(claim.ingress, Problem(Reason.DUPLICATE_PATH, message, self.host))

    def _add_path(self, path: IngressPath, claim: Claim) -> None:
        written = paths.shown(path)
        try:
            match = paths.translate(path.path, path.kind, regex=claim.options.path_regex)
        except paths.UnusablePathError as error:
            message = f"{written} is not usable: {error}"
            self._flaw(claim, Problem(Reason.INVALID_PATH, message, self.host))
            return
        if problem := _dialect_problem(match, written, self.host):
            self.notices.add(claim.ingress, problem)
        key = (match.match, match.path)
        if key in self._taken:
            message = (
                f"{written}, {path.kind}, appears more than once for this host: the first one of"
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
            target, remark, origin = self.resolver.resolve(
                backend, claim.ingress.namespace, claim.options.scheme
            )
        except BackendError as error:
            self._flaw(claim, self._located(error.problem, where))
            return
        if remark:
            self.notices.add(claim.ingress, self._located(remark, where))
        target = replace(target, path=match.path, match=match.match, priority=match.priority)
        self.routes.append(Route(target, match, claim.ingress, where, origin))

    def _located(self, problem: Problem, where: str) -> Problem:
        return replace(problem, message=f"{where}: {problem.message}", host=self.host)

    def _flaw(self, claim: Claim, problem: Problem) -> None:
        self.flaws.add(problem.reason)
        self.broken.append((claim.ingress, problem))
        self.notices.add(claim.ingress, problem)


def _dialect_problem(match: PathMatch, written: str, host: str) -> Problem | None:
    if variable := not_filled_in(written):
        message = f"{written} matches only this very text: {variable}"
        return Problem(Reason.PATH_PATTERN, message, host, urgent=True)
    match match.dialect:
        case Dialect.PLAIN:
            return None
        case Dialect.BELOW:
            message = f"{written} means every path below it, as a Prefix without /* does"
            return Problem(Reason.PATH_PATTERN, message, host)
        case Dialect.PATTERN:
            message = (
                f"{written} reads like a pattern, but matches only this very text: for a regular"
                f" expression, set {PREFIX}path-regex to true and its pathType to"
                f" {PathType.IMPLEMENTATION_SPECIFIC}"
            )
            return Problem(Reason.PATH_PATTERN, message, host, urgent=True)
        case _:
            assert_never(match.dialect)


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
    for route in tied:
        message = (
            f"{len(tied)} paths have the highest priority, so the proxy may match them in any"
            f" order: shorten {route.written}"
        )
        routes.notices.add(route.ingress, Problem(Reason.PATH_TOO_LONG, message, routes.host))


def _report_collisions(routes: Routes) -> None:
    by_key: dict[str, list[Route]] = defaultdict(list)
    for route in routes.routes:
        if route.target.path is not None:
            by_key[paths.proxy_key(route.target.path)].append(route)
    for same_key in by_key.values():
        texts = sorted({str(route.target.path) for route in same_key})
        for route in same_key if len(texts) > 1 else ():
            others = [it.written for it in same_key if it.target.path != route.target.path]
            message = (
                f"older Pangolin releases confuse {route.written} with {', '.join(sorted(others))}:"
                f" upgrade Pangolin, or make them differ in the first {paths.KEY_LENGTH} characters"
            )
            routes.notices.add(
                route.ingress, Problem(Reason.PATH_KEY_COLLISION, message, routes.host)
            )
