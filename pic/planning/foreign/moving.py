"""Says what changes for each Ingress when it moves from another controller to pic."""

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from pic.core.ingress import Ingress, PathType
from pic.planning import annotations, paths
from pic.planning.annotations import Switch
from pic.planning.foreign import reading
from pic.planning.foreign.reading import CONTROLLERS, Found
from pic.planning.foreign.words import Controller, Effect
from pic.planning.paths import Dialect
from pic.planning.selection import class_of, ignored


@dataclass(frozen=True, slots=True)
class Move:
    """What changes for one Ingress.

    Attributes:
        class_name: Its class; empty if it has none.
        hosts: As written.
        found: Its annotations of the controller, those that protect first.
        guarded: An annotation of ours already says who may open the hosts.
        patterns: Its paths that read like a pattern, with their places.
    """

    namespace: str
    name: str
    class_name: str
    hosts: tuple[str, ...]
    found: tuple[Found, ...]
    guarded: bool
    patterns: tuple[str, ...]

    @property
    def exposes(self) -> bool:
        """Whether its hosts become public, although they were not."""
        return not self.guarded and any(it.effect is Effect.PROTECTS for it in self.found)


@dataclass(frozen=True, slots=True)
class Moves:
    """What changes for the Ingresses of a controller, sorted by namespace and name.

    Attributes:
        others: How many Ingresses belong to another controller.
    """

    controller: Controller
    moves: tuple[Move, ...]
    others: int


def moves(ingresses: Iterable[Ingress], name: str) -> Moves:
    """Return what changes for the Ingresses of a controller.

    An Ingress belongs to it by its class, or by an annotation that the controller reads.

    Args:
        ingresses: All Ingresses, of any class.
        name: The controller, as `pic plan --from` calls it.
    """
    controller = next(it for it in CONTROLLERS if it.name == name)
    every = sorted(ingresses, key=lambda ingress: ingress.key)
    found = [_move(ingress, controller) for ingress in every]
    ours = tuple(move for move in found if move)
    return Moves(controller, ours, len(every) - len(ours))


def _move(ingress: Ingress, controller: Controller) -> Move | None:
    mine = tuple(it for it in reading.read(ingress.annotations) if _is_of(it, controller))
    name = class_of(ingress)
    has_class = any(fnmatchcase(name, pattern) for pattern in controller.classes)
    # cert-manager and ingress-nginx make more Ingresses for a host. They do not move.
    if ignored(ingress) or not (mine or has_class):
        return None
    options = annotations.read(ingress.annotations, ingress.labels)
    sso = annotations.switch(ingress.annotations, f"{annotations.PREFIX}sso")
    return Move(
        ingress.namespace,
        ingress.name,
        name,
        ingress.hosts,
        tuple(sorted(mine, key=lambda it: (_ORDER[it.effect], it.key))),
        guarded=options.sso or options.block_access or sso is Switch.OFF,
        patterns=() if options.path_regex else tuple(_patterns(ingress)),
    )


def _is_of(found: Found, controller: Controller) -> bool:
    # The prefix ingress.kubernetes.io belongs to several controllers.
    prefix = f"{found.key.partition('/')[0]}/"
    return found.controller is controller or prefix in controller.prefixes


def _patterns(ingress: Ingress) -> Iterable[str]:
    for path in (path for rule in ingress.rules for path in rule.paths):
        free = path.kind is PathType.IMPLEMENTATION_SPECIFIC
        if paths.dialect(path.path, free=free) is Dialect.PATTERN:
            yield paths.shown(path)


_ORDER = {Effect.PROTECTS: 0, Effect.LOST: 1, Effect.NONE: 2}


def as_json(all_moves: Moves) -> dict[str, object]:
    """Return the moves as JSON."""
    return {
        "version": 1,
        "from": all_moves.controller.name,
        "ingresses": [
            {
                "namespace": move.namespace,
                "name": move.name,
                "class": move.class_name or None,
                "hosts": list(move.hosts),
                "becomesPublic": move.exposes,
                "annotations": [
                    {
                        "key": found.key,
                        "effect": found.effect.value,
                        "there": found.word.there or None,
                        "here": found.word.here_in_text,
                    }
                    for found in move.found
                ],
                "patterns": list(move.patterns),
            }
            for move in all_moves.moves
        ],
        "others": all_moves.others,
    }
