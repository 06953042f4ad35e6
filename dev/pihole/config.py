"""Pi-hole's configuration: `dns.hosts` in memory and in its file, and the little else that matters.

Nothing here is locked across reading and writing back, as in Pi-hole: writers at the same time lose
updates.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dev.pihole import hosts

Listener = Callable[[Sequence[str]], None]


@dataclass
class Config:
    """What is configured.

    Attributes:
        lines: `dns.hosts` as it is served.
        saved: `dns.hosts` as pihole.toml has it, which is what a restart reads.
        env_hosts: Whether FTLCONF_dns_hosts sets it.
        read_only: `misc.readOnly`: nothing is written to pihole.toml.
        app_sudo: `webserver.api.app_sudo`.
        max_sessions: `webserver.api.max_sessions`.
        writes: How often something was changed through an interface.
    """

    lines: tuple[str, ...] = ()
    saved: tuple[str, ...] = ()
    env_hosts: bool = False
    read_only: bool = False
    app_sudo: bool = False
    max_sessions: int = 16
    writes: int = 0
    served: Listener = field(default=lambda _: None)

    def edit(self, lines: Sequence[str]) -> None:
        """Set the lines as they are, as a person with an editor does."""
        self.lines = self.saved = tuple(lines)
        self.served(self.lines)

    def replace(self, lines: Sequence[str]) -> None:
        """Set the lines through an interface; writing the file cleans all of them up."""
        self.writes += 1
        self.lines = tuple(lines)
        if not self.read_only:
            self.lines = self.saved = tuple(hosts.tidy(line) for line in lines)
        self.served(self.lines)

    def reload(self) -> None:
        """Read pihole.toml again, as a start does."""
        self.lines = self.saved
        self.served(self.lines)

    def tree(self) -> dict[str, Any]:
        """The configuration as the API shows it."""
        api = {"app_sudo": self.app_sudo, "max_sessions": self.max_sessions}
        return {
            "dns": {"hosts": list(self.lines), "cnameRecords": []},
            "webserver": {"domain": "pi.hole", "api": api},
            "misc": {"readOnly": self.read_only},
        }


def at(tree: Mapping[str, Any], path: Sequence[str]) -> dict[str, Any]:
    """The part of a tree below a path, with its parents; nothing where there is no such key."""
    if not path:
        return dict(tree)
    key, *rest = path
    if key not in tree:
        return {}
    below = tree[key]
    if not rest:
        return {key: below}
    found = at(below, rest) if isinstance(below, Mapping) else {}
    return {key: found} if found else {}


def detailed(tree: Mapping[str, Any], config: Config) -> dict[str, Any]:
    """The same tree, with a description of each value in its place."""
    return {
        key: detailed(value, config)
        if isinstance(value, Mapping)
        else _described(key, value, config)
        for key, value in tree.items()
    }


_DEFAULTS: Mapping[str, object] = {
    "hosts": [],
    "cnameRecords": [],
    "domain": "pi.hole",
    "app_sudo": False,
    "max_sessions": 16,
    "readOnly": False,
}
_TYPES = {bool: "boolean", int: "integer", str: "string", list: "string array"}
_RESTARTS = {"cnameRecords"}


def _described(key: str, value: object, config: Config) -> dict[str, object]:
    return {
        "description": f"The setting {key}",
        "allowed": "Lines as in a hosts file" if key == "hosts" else None,
        "type": _TYPES[type(value)],
        "value": value,
        "default": _DEFAULTS[key],
        "modified": value != _DEFAULTS[key],
        "flags": {
            "restart_dnsmasq": key in _RESTARTS,
            "session_reset": False,
            "env_var": key == "hosts" and config.env_hosts,
        },
    }
