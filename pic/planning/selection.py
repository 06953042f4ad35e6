"""Selects the Ingresses that pic exposes, by class and annotations.

The class decides first: `spec.ingressClassName`, else the legacy annotation. Solvers of
cert-manager and canaries of ingress-nginx repeat the host of another Ingress, so they own none.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial

from pic.core.files import FilesRead
from pic.core.ingress import Ingress, IngressClass, IngressPath, ServiceBackend
from pic.core.notices import Reason
from pic.core.sources import Ignored, Stop
from pic.planning import annotations
from pic.planning.absences import DEFAULT_CLASS, Absences
from pic.planning.annotations import IngressOptions, Switch
from pic.planning.foreign import notices as foreign_notices
from pic.planning.foreign import reading
from pic.planning.foreign_classes import OWN_CLASS, ForeignClasses, is_ours
from pic.planning.notice_log import NoticeLog, Problem
from pic.settings.kinds import INGRESS_CLASS
from pic.settings.parse import ForeignProtection, Settings

# cert-manager marks the Ingresses and Services of its HTTP-01 challenges in these ways.
SOLVER_LABEL = "acme.cert-manager.io/http01-solver"
SOLVER_SERVICE = "cm-acme-http-solver-"
CHALLENGE = "/.well-known/acme-challenge/"

DISABLED = Stop(Ignored.DISABLED, f"its annotation {annotations.PREFIX}enabled is false")

_TUNNEL = f"{annotations.PREFIX}tunnel-name"
_SSO = f"{annotations.PREFIX}sso"


@dataclass(frozen=True, slots=True)
class Selected:
    """An Ingress that pic exposes.

    Attributes:
        options: What its annotations ask for.
        class_tunnel: The tunnel that its class stands for.
        class_name: The class that counts; that of the cluster for an Ingress without one.
        class_origin: What makes this tunnel that of the class.
    """

    ingress: Ingress
    options: IngressOptions
    class_tunnel: str
    class_name: str = ""
    class_origin: str = ""

    @property
    def tunnel(self) -> str:
        """The tunnel of the annotation, else of the class; perhaps with a namespace."""
        return self.options.tunnel or self.class_tunnel

    @property
    def tunnel_origin(self) -> str:
        """What names the tunnel: an annotation, the class, or a setting."""
        return f"annotation {_TUNNEL}" if self.options.tunnel else self.class_origin


def select(
    ingresses: Iterable[Ingress],
    classes: tuple[IngressClass, ...] | None,
    settings: Settings,
    notices: NoticeLog,
    absences: Absences | None = None,
) -> Iterator[Selected]:
    """Yield the Ingresses that pic exposes.

    Args:
        ingresses: All Ingresses, of any class.
        classes: The IngressClasses; None if they were not read.
        settings: They have the class patterns and the tunnels of the classes.
        notices: Gets the Ingresses that are ignored, and the annotations that are not usable.
        absences: Decides what it means that no default class was read; None for a whole cluster.
    """
    # Only an Ingress without a class needs the default class, so only that one misses it.
    default = cache(partial(_default_class, classes, settings, absences or Absences()))
    trail, foreign_classes = notices.trail, ForeignClasses(classes, settings)
    for ingress in ingresses:
        name = _our_class(ingress, default, settings)
        if not name:
            trail.ignored[ingress.key] = foreign_classes.stop(class_of(ingress))
            continue
        options = _options(ingress, settings)
        if options.enabled is Switch.OFF:
            trail.ignored[ingress.key] = DISABLED
            continue
        if reason := ignored(ingress):
            trail.ignored[ingress.key] = Stop(reason, _WHY_IGNORED[reason])
            notices.add(ingress, Problem(reason, _WHY_IGNORED[reason]))
            continue
        for problem in (*options.problems, *annotations.slips(ingress)):
            notices.add(ingress, problem)
        tunnel, origin = _class_tunnel(name, settings)
        selected = Selected(ingress, options, tunnel, name, origin)
        trail.select(selected)
        yield selected


def _options(ingress: Ingress, settings: Settings) -> IngressOptions:
    """Return what the annotations of an Ingress ask for, those of other controllers included."""
    options = annotations.read(ingress.annotations, ingress.labels)
    others = reading.read(ingress.annotations)
    # An explicit sso says who may open the hosts, also if it is false.
    decided = options.sso or options.block_access or _SSO in ingress.annotations
    ignoring = settings.foreign_protection is ForeignProtection.IGNORE
    unguarded = () if decided or ignoring else foreign_notices.protecting(others)
    problem = foreign_notices.without_effect(others, unguarded)
    problems = (*options.problems, *([problem] if problem else []))
    return replace(options, unguarded=unguarded, problems=problems)


def class_of(ingress: Ingress) -> str:
    """Return the class of an Ingress; an empty string if it has none."""
    return ingress.class_name or ingress.annotations.get(annotations.LEGACY_CLASS) or ""


def class_origin(ingress: Ingress) -> str:
    """Say what gives an Ingress its class."""
    if ingress.class_name:
        return "spec.ingressClassName"
    annotated = ingress.annotations.get(annotations.LEGACY_CLASS)
    return f"annotation {annotations.LEGACY_CLASS}" if annotated else "default class"


def any_ours(
    ingresses: Iterable[Ingress], classes: tuple[IngressClass, ...] | None, settings: Settings
) -> bool:
    """Say whether an Ingress of files has a class that pic exposes."""
    default = cache(partial(_default_class, classes, settings, Absences(FilesRead(partial=True))))
    return any(_our_class(ingress, default, settings) for ingress in ingresses)


def _our_class(ingress: Ingress, default: Callable[[], str], settings: Settings) -> str:
    """Return the class that makes an Ingress ours; an empty string if it is not ours."""
    name = class_of(ingress)
    if not name:
        return default()
    return name if is_ours(name, settings) else ""


def _default_class(
    classes: tuple[IngressClass, ...] | None, settings: Settings, absences: Absences
) -> str:
    """Return the class of Ingresses without one; the pattern "" includes those."""
    if "" not in settings.ingress_classes:
        return ""
    # A plan from files need not include the classes. Then the setting alone decides.
    if classes is None:
        return OWN_CLASS
    defaults = sorted(ingress_class.name for ingress_class in classes if ingress_class.default)
    if not defaults and absences.tolerates(INGRESS_CLASS, "", DEFAULT_CLASS):
        return OWN_CLASS
    # Several classes may be marked as default. The first by name counts, whatever their order.
    return next((name for name in defaults if is_ours(name, settings)), "")


def _class_tunnel(name: str, settings: Settings) -> tuple[str, str]:
    """Return the tunnel of a class, and what says so."""
    suffix = name.removeprefix(f"{OWN_CLASS}-")
    if suffix == name:
        return settings.default_tunnel, "pic:defaultTunnel"
    if suffix in settings.tunnel_class_mapping:
        return settings.tunnel_class_mapping[suffix], "pic:tunnelClassMapping"
    return suffix, f"class {name}"


_WHY_IGNORED = {
    Reason.SOLVER_IGNORED: "it serves an HTTP-01 challenge of cert-manager, so pic ignores it",
    Reason.CANARY_IGNORED: "it is a canary of ingress-nginx, so pic exposes only the main Ingress",
}


def ignored(ingress: Ingress) -> Reason | None:
    """Return why an Ingress of any class never owns a host; None if it may own one."""
    if _is_solver(ingress):
        return Reason.SOLVER_IGNORED
    # As in ingress-nginx, an unreadable value does not make a canary.
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
    # cert-manager may also edit an existing Ingress, which then has other paths as well.
    paths = [path for rule in ingress.rules for path in rule.paths]
    solving = all(is_solver_path(path) or path.path.startswith(CHALLENGE) for path in paths)
    return bool(paths) and solving and ingress.default_backend is None
