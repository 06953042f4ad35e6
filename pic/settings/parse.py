"""Settings, parsed once, all problems at once. No I/O."""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from pic.core.errors import SettingsError
from pic.core.notices import Notice, Reason, Ref
from pic.settings.fields import (
    FIELDS,
    Field,
    LogLevel,
    PathRouting,
    PiholeApi,
    ResourceSchema,
    TargetName,
)
from pic.settings.readers import UnfitError, shown, written

__all__ = [
    "LogLevel",
    "PathRouting",
    "PiholeApi",
    "ResourceSchema",
    "Settings",
    "TargetName",
    "parse",
    "settings_table",
]

_CLOSE_ENOUGH = 0.6


@dataclass(frozen=True, slots=True)
class Settings:
    """What the platform team decided; FIELDS describes each.

    Attributes:
        namespaces: Empty is all of them.
        host_policy: None where there is none; with one, a namespace it does not list has no host.
        max_weakened: None is the same as max_removals.
    """

    ingress_classes: tuple[str, ...] = ("pangolin", "pangolin-*")
    namespaces: tuple[str, ...] = ()
    default_tunnel: str = "default"
    tunnel_class_mapping: Mapping[str, str] = field(default_factory=dict)
    tunnel_namespace: str | None = None
    tunnel_namespaces: tuple[str, ...] = ()
    backend_scheme: str = "http"
    cluster_domain: str = "cluster.local"
    domains: tuple[str, ...] = ()
    host_policy: Mapping[str, tuple[str, ...]] | None = None
    allow_external_name: bool = False
    resource_schema: ResourceSchema = ResourceSchema.AUTO
    path_routing: PathRouting = PathRouting.WARN
    max_removals: int = 5
    max_removal_ratio: float = 0.2
    max_weakened: int | None = None
    acknowledge: str = ""
    cluster_id: str = ""
    adopt: bool = False
    adopt_from: str = ""
    context: str = ""
    kubeconfig: str = ""
    events: bool = True
    targets: tuple[TargetName, ...] = (TargetName.PANGOLIN,)
    resync_period: timedelta = timedelta(minutes=5)
    log_level: LogLevel = LogLevel.INFO
    owner_references: bool = True
    lock_timeout: timedelta = timedelta(minutes=30)
    keep_history: int = 50
    pihole_url: str = ""
    pihole_target_ip: str = ""
    pihole_api: PiholeApi = PiholeApi.V6
    pihole_take_over: bool = False
    pihole_annotate: bool = True
    pihole_ca: str = ""
    pihole_server_name: str = ""
    pihole_insecure: bool = False


def parse(
    raw: Mapping[str, object], environment: Mapping[str, str]
) -> tuple[Settings, tuple[Notice, ...]]:
    """Return the settings, with a notice for each variable that says otherwise than the stack.

    Args:
        raw: By key, without `pic:`; text, or what YAML made of it. None is left open.
        environment: Fills what the stack leaves open; an empty variable counts as not set.

    Raises:
        SettingsError: Something cannot be right; it names every problem.
    """
    parsing = _Parsing(raw, environment)
    parsing.run()
    if parsing.problems:
        raise SettingsError(parsing.problems)
    return Settings(**parsing.values), tuple(parsing.notices)


def settings_table() -> list[tuple[str, str, str, str, str]]:
    """Return key, allowed, default, environment and description of each setting."""
    defaults = Settings()
    return [
        (
            row.key,
            row.allowed,
            written(getattr(defaults, row.attribute)),
            ", ".join(row.environment),
            row.description,
        )
        for row in FIELDS
    ]


class _Parsing:
    """One pass over everything that was set; collects values, problems and notices."""

    def __init__(self, raw: Mapping[str, object], environment: Mapping[str, str]) -> None:
        self._raw = raw
        self._environment = environment
        # Each value was read by the row of its own field, so its type is the field's.
        self.values: dict[str, Any] = {}
        self.problems: list[str] = []
        self.notices: list[Notice] = []

    def run(self) -> None:
        self.problems.extend(_unknown(self._raw))
        for row in FIELDS:
            variable = next((name for name in row.environment if self._environment.get(name)), None)
            if self._raw.get(row.key) is not None:
                self._from_stack(row, self._raw[row.key], variable)
            elif variable is not None:
                self._read(row, self._environment[variable], f" from {variable}")

    def _from_stack(self, row: Field, value: object, variable: str | None) -> None:
        if self._read(row, value, "") and variable is not None:
            self._compare(row, value, variable)

    def _read(self, row: Field, value: object, origin: str) -> bool:
        try:
            self.values[row.attribute] = row.reader(value)
        except UnfitError as error:
            detail = f" ({error})" if str(error) else ""
            self.problems.append(
                f"pic:{row.key}{origin} is {shown(value)}{detail}; allowed: {row.allowed}"
            )
            return False
        return True

    def _compare(self, row: Field, value: object, variable: str) -> None:
        text = self._environment[variable]
        try:
            differs = row.reader(text) != self.values[row.attribute]
            problem = f"is {shown(text)}, but pic:{row.key} is {shown(value)}, which stands"
        except UnfitError:
            differs = True
            problem = f"is unreadable and not used, because pic:{row.key} is set"
        if differs:
            about = Ref("Setting", "", row.key)
            self.notices.append(Notice(Reason.SETTING_DIFFERS, about, f"{variable} {problem}"))


def _unknown(raw: Mapping[str, object]) -> Iterator[str]:
    known = {_squashed(row.key): row.key for row in FIELDS}
    for key in sorted(raw.keys() - known.values()):
        near = difflib.get_close_matches(_squashed(key), known, n=1, cutoff=_CLOSE_ENOUGH)
        hint = f"; did you mean pic:{known[near[0]]}?" if near else ""
        yield f"unknown setting pic:{key}{hint}"


def _squashed(key: str) -> str:
    """Return a key without what people write differently."""
    return key.replace("_", "").replace("-", "").lower()
