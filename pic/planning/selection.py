"""Which Ingress counts, and what its annotations and class ask for. No I/O."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from pic.core.model import (
    Ingress,
    IngressClass,
    IngressPath,
    ServiceBackend,
)
from pic.core.notices import Reason
from pic.planning import annotations
from pic.planning.annotations import IngressOptions, Switch
from pic.planning.notice_log import NoticeLog, Problem
from pic.settings.parse import Settings

SOLVER_LABEL = "acme.cert-manager.io/http01-solver"
SOLVER_SERVICE = "cm-acme-http-solver-"
CHALLENGE = "/.well-known/acme-challenge/"

_OWN_CLASS = "pangolin"


@dataclass(frozen=True, slots=True)
class Managed:
    """An Ingress that is ours to expose, with the name of its tunnel as its class has it."""

    ingress: Ingress
    wishes: IngressOptions
    class_tunnel: str

    @property
    def tunnel(self) -> str:
        """The tunnel's name, perhaps with a namespace: the annotation's, else the class's."""
        return self.wishes.tunnel or self.class_tunnel


def managed(
    ingresses: Iterable[Ingress],
    classes: tuple[IngressClass, ...] | None,
    settings: Settings,
    notices: NoticeLog,
) -> Iterator[Managed]:
    """Yield the Ingresses that are ours to expose."""
    default = _default_class(classes, settings)
    for ingress in ingresses:
        name = _our_class(ingress, default, settings)
        wishes = annotations.read(ingress.annotations) if name else annotations.NONE
        if not name or wishes.enabled is Switch.OFF:
            continue
        if reason := ignored(ingress):
            notices.add(ingress, Problem(reason, _WHY_IGNORED[reason]))
            continue
        for problem in wishes.problems:
            notices.add(ingress, problem)
        yield Managed(ingress, wishes, _class_tunnel(name, settings))


def class_of(ingress: Ingress) -> str:
    """Return the class: the field's, else the legacy annotation's, else the empty text."""
    return ingress.class_name or ingress.annotations.get(annotations.LEGACY_CLASS) or ""


def _our_class(ingress: Ingress, default: str, settings: Settings) -> str:
    """Return the class by which an Ingress is ours, the empty text where it is not."""
    name = class_of(ingress)
    if not name:
        return default
    return name if _is_ours(name, settings) else ""


def _is_ours(name: str, settings: Settings) -> bool:
    if name == f"{_OWN_CLASS}-":
        return False
    return any(fnmatchcase(name, pattern) for pattern in settings.ingress_classes if pattern)


def _default_class(classes: tuple[IngressClass, ...] | None, settings: Settings) -> str:
    """Return the class of an Ingress without one, where pattern "" asks for those."""
    if "" not in settings.ingress_classes:
        return ""
    if classes is None:
        return _OWN_CLASS
    marked = sorted(each.name for each in classes if each.default and _is_ours(each.name, settings))
    return marked[0] if marked else ""


def _class_tunnel(name: str, settings: Settings) -> str:
    suffix = name.removeprefix(f"{_OWN_CLASS}-")
    if suffix == name:
        return settings.default_tunnel
    return settings.tunnel_class_mapping.get(suffix, suffix)


_WHY_IGNORED = {
    Reason.SOLVER_IGNORED: "an HTTP-01 solver of cert-manager never owns a host",
    Reason.CANARY_IGNORED: "a canary of ingress-nginx repeats another Ingress on purpose",
}


def ignored(ingress: Ingress) -> Reason | None:
    """Return why an Ingress of any class never owns a host, or None."""
    if _is_solver(ingress):
        return Reason.SOLVER_IGNORED
    if annotations.switch(ingress.annotations, annotations.CANARY) is Switch.ON:
        return Reason.CANARY_IGNORED
    return None


def is_solver_path(path: IngressPath) -> bool:
    """Say whether cert-manager added this path for a challenge."""
    backend = path.backend
    return isinstance(backend, ServiceBackend) and backend.service.startswith(SOLVER_SERVICE)


def _is_solver(ingress: Ingress) -> bool:
    if ingress.labels.get(SOLVER_LABEL) == "true":
        return True
    paths = [path for rule in ingress.rules for path in rule.paths]
    solving = all(is_solver_path(path) or path.path.startswith(CHALLENGE) for path in paths)
    return bool(paths) and solving and ingress.default_backend is None
