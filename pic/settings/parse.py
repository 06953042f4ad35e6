"""Parses the settings of a stack and reports every problem at once.

`Settings` holds the parsed values and their defaults. `pic.settings.fields` describes each setting.
The rest of pic reads only `Settings`, so no other module has to check a value. No I/O.
"""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from pic.core.errors import SettingsError
from pic.core.notices import Notice, Reason, Ref
from pic.settings.field import (
    Field,
    ForeignProtection,
    LogLevel,
    PathRouting,
    PiholeApi,
    ResourceSchema,
    TakeOver,
    TargetName,
    Tenants,
    Unpublish,
)
from pic.settings.fields import FIELDS
from pic.settings.readers import InvalidValueError, describe, format_value

__all__ = [
    "ForeignProtection",
    "LogLevel",
    "PathRouting",
    "PiholeApi",
    "ResourceSchema",
    "Settings",
    "TakeOver",
    "TargetName",
    "Tenants",
    "Unpublish",
    "parse",
    "settings_table",
]

_CLOSE_ENOUGH = 0.6
# What people try to set in a stack file, and the variable that it belongs into.
_CREDENTIALS = {
    **dict.fromkeys(("pangolinapikey", "pangolinkey", "pangolintoken"), "PANGOLIN_API_KEY"),
    **dict.fromkeys(("piholepassword", "piholeapitoken"), "PIHOLE_PASSWORD"),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a stack; the table FIELDS describes each of them.

    Attributes:
        namespaces: Empty means all namespaces.
        tunnel_namespace: None means that live hosts keep their tunnels.
        host_policy: None allows every host. Otherwise a namespace that is not a key has no host.
        max_weakened: None means the default of `tenants`, like max_moves and move_after.
        lock_timeout: The age at which the lock of another machine counts as left behind.
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
    foreign_protection: ForeignProtection = ForeignProtection.WARN
    operator_limit: int = 20
    tenants: Tenants = Tenants.MANY
    register_namespace: str = ""
    stack_id: str = ""
    max_removals: int = 5
    max_removal_ratio: float = 0.2
    removal_window: timedelta = timedelta(hours=24)
    ephemeral: tuple[str, ...] = ()
    max_weakened: int | None = None
    max_moves: int | None = None
    move_after: timedelta | None = None
    max_retargeted: int = 10
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
    unpublish: Unpublish = Unpublish.OFF
    lock_timeout: timedelta = timedelta(minutes=30)
    keep_history: int = 50
    pangolin_url: str = ""
    pangolin_org: str = ""
    pangolin_ca: str = ""
    pihole_url: str = ""
    pihole_target_ip: str = ""
    pihole_allow_addresses: tuple[str, ...] = ()
    pihole_api: PiholeApi = PiholeApi.V6
    pihole_take_over: TakeOver = TakeOver.NONE
    pihole_annotate: bool = True
    pihole_ca: str = ""
    pihole_server_name: str = ""
    pihole_insecure: bool = False

    @property
    def publishes(self) -> bool:
        """Whether pic changes Pangolin itself, without an operator in between."""
        return TargetName.PANGOLIN_API in self.targets

    @property
    def exposes(self) -> bool:
        """Whether pic exposes hosts, with an operator or without."""
        return self.publishes or TargetName.PANGOLIN in self.targets


def parse(
    values: Mapping[str, object], environment: Mapping[str, str]
) -> tuple[Settings, tuple[Notice, ...]]:
    """Parse the values of a stack, and environment variables for those that it does not set.

    Args:
        values: The stack's values by key, without `pic:`: text, or what YAML made of it. None
            counts as not set.
        environment: The environment variables. An empty variable counts as not set.

    Returns:
        The settings, and a notice for each variable that contradicts the stack.

    Raises:
        SettingsError: A key is unknown or a value is not allowed; the error lists every problem.
    """
    parsing = _Parsing(values, environment)
    parsing.run()
    settings = None if parsing.problems else Settings(**parsing.parsed)
    if settings is None or (problem := _contradiction(settings)):
        raise SettingsError(parsing.problems or [problem])
    return settings, tuple(parsing.notices)


def _contradiction(settings: Settings) -> str:
    """Return why values do not go together, each of which is allowed; empty if they do."""
    if settings.publishes and TargetName.PANGOLIN in settings.targets:
        return (
            "pic:targets has both pangolin and pangolin-api, but two of them would expose each host"
            " twice: list pangolin for the objects of an operator, or pangolin-api to change"
            " Pangolin itself"
        )
    return ""


def settings_table() -> list[tuple[str, str, str, str, str]]:
    """Return key, allowed values, default, variables and description of each setting."""
    defaults = Settings()
    return [
        (
            row.key,
            row.allowed,
            format_value(getattr(defaults, row.attribute)),
            ", ".join(row.environment),
            row.description,
        )
        for row in FIELDS
    ]


class _Parsing:
    """Parses every value once, and collects the results, the problems and the notices."""

    def __init__(self, values: Mapping[str, object], environment: Mapping[str, str]) -> None:
        self._values = values
        self._environment = environment
        # Any, because each value has the type of its own attribute in Settings.
        self.parsed: dict[str, Any] = {}
        self.problems: list[str] = []
        self.notices: list[Notice] = []

    def run(self) -> None:
        self.problems.extend(_unknown_keys(self._values))
        # The stack comes before the environment, so that a run on a laptop and a run in a pipeline
        # use the same values. A difference gets a notice.
        for row in FIELDS:
            variable = next((name for name in row.environment if self._environment.get(name)), None)
            if self._values.get(row.key) is not None:
                self._from_stack(row, self._values[row.key], variable)
            elif variable is not None:
                self._read(row, self._environment[variable], f" (from {variable})")

    def _from_stack(self, row: Field, value: object, variable: str | None) -> None:
        if self._read(row, value, "") and variable is not None:
            self._compare(row, value, variable)

    def _read(self, row: Field, value: object, origin: str) -> bool:
        try:
            self.parsed[row.attribute] = row.reader(value)
        except InvalidValueError as error:
            detail = f" ({error})" if str(error) else ""
            self.problems.append(
                f"pic:{row.key}{origin} is {describe(value)}{detail}; allowed: {row.allowed}"
            )
            return False
        return True

    def _compare(self, row: Field, value: object, variable: str) -> None:
        text = self._environment[variable]
        try:
            differs = row.reader(text) != self.parsed[row.attribute]
            problem = (
                f"is {describe(text)} and pic:{row.key} is {describe(value)}: pic uses"
                f" pic:{row.key}"
            )
        except InvalidValueError:
            # The value is not repeated: it may be a password in the wrong variable.
            differs = True
            problem = f"has an invalid value: pic ignores it and uses pic:{row.key}"
        if differs:
            setting = Ref("Setting", "", row.key)
            self.notices.append(Notice(Reason.SETTING_DIFFERS, setting, f"{variable} {problem}"))


def _unknown_keys(values: Mapping[str, object]) -> Iterator[str]:
    keys = {_simplified(row.key): row.key for row in FIELDS}
    for key in sorted(values.keys() - keys.values()):
        if variable := _CREDENTIALS.get(_simplified(key)):
            # The value is not repeated.
            yield (
                f"pic:{key} is no setting, since the stack file would show the secret to everyone:"
                f" remove it, create another secret, and set {variable} in the environment"
            )
            continue
        near = difflib.get_close_matches(_simplified(key), keys, n=1, cutoff=_CLOSE_ENOUGH)
        hint = f"; did you mean pic:{keys[near[0]]}?" if near else ""
        yield f"unknown setting pic:{key}{hint}"


def _simplified(key: str) -> str:
    """Return a key in lower case and without separators, so that spellings compare equal."""
    return key.replace("_", "").replace("-", "").lower()
