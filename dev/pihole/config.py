"""Holds Pi-hole's configuration: `dns.hosts` in memory and in its file, and a few other settings.

As in Pi-hole, no lock covers a read and the write that follows, so parallel writers lose updates.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dev.pihole import hosts

Listener = Callable[[Sequence[str]], None]


@dataclass
class Config:
    """The configuration.

    Attributes:
        lines: `dns.hosts` in memory, which Pi-hole serves.
        saved: `dns.hosts` in pihole.toml, which a restart reads.
        env_hosts: Whether FTLCONF_dns_hosts sets it.
        read_only: `misc.readOnly`: Pi-hole does not write pihole.toml.
        app_sudo: `webserver.api.app_sudo`.
        max_sessions: `webserver.api.max_sessions`.
        cname_records: `dns.cnameRecords`, which win over the lines.
        dnsmasq_lines: `misc.dnsmasq_lines`.
        environment: The settings that variables of the container set, such as `misc.readOnly`.
        file_is_mounted: Whether pihole.toml alone is mounted, so Pi-hole cannot replace it.
        writes: The number of writes through an interface.
        on_change: Gets the lines after each change.
    """

    lines: tuple[str, ...] = ()
    saved: tuple[str, ...] = ()
    env_hosts: bool = False
    read_only: bool = False
    app_sudo: bool = False
    max_sessions: int = 16
    cname_records: tuple[str, ...] = ()
    dnsmasq_lines: tuple[str, ...] = ()
    environment: frozenset[str] = frozenset()
    file_is_mounted: bool = False
    writes: int = 0
    on_change: Listener = field(default=lambda _: None)

    def edit(self, lines: Sequence[str]) -> None:
        """Set the lines unchanged, as a user with an editor does."""
        self.lines = self.saved = tuple(lines)
        self.on_change(self.lines)

    def replace(self, lines: Sequence[str]) -> None:
        """Set the lines through an interface; a write of the file tidies all of them."""
        self.writes += 1
        self.lines = tuple(lines)
        if not self.read_only:
            self.lines = tuple(hosts.tidy(line) for line in lines)
            if not self.file_is_mounted:
                self.saved = self.lines
        self.on_change(self.lines)

    def notice(self, lines: Sequence[str]) -> None:
        """Read an edit of the file, unless a write through the interface has replaced it."""
        if self.saved == tuple(lines):
            self.lines = self.saved = tuple(hosts.tidy(line) for line in lines)
            self.on_change(self.lines)

    def reload(self) -> None:
        """Read pihole.toml again, as a start does."""
        self.lines = self.saved
        self.on_change(self.lines)

    def tree(self) -> dict[str, Any]:
        """Return the configuration as the API returns it."""
        api = {"app_sudo": self.app_sudo, "max_sessions": self.max_sessions}
        return {
            "dns": {"hosts": list(self.lines), "cnameRecords": list(self.cname_records)},
            "webserver": {"domain": "pi.hole", "api": api},
            "misc": {"readOnly": self.read_only, "dnsmasq_lines": list(self.dnsmasq_lines)},
        }


def subtree(tree: Mapping[str, Any], path: Sequence[str]) -> dict[str, Any]:
    """Return the part of a tree at a path, with its parents; empty if there is no such key."""
    if not path:
        return dict(tree)
    key, *rest = path
    if key not in tree:
        return {}
    below = tree[key]
    if not rest:
        return {key: below}
    part = subtree(below, rest) if isinstance(below, Mapping) else {}
    return {key: part} if part else {}


def describe(tree: Mapping[str, Any], config: Config, path: str = "") -> dict[str, Any]:
    """Return the tree with a description in place of each value."""
    return {
        key: describe(value, config, f"{path}{key}.")
        if isinstance(value, Mapping)
        else _described(key, value, config, f"{path}{key}")
        for key, value in tree.items()
    }


_DEFAULTS: Mapping[str, object] = {
    "hosts": [],
    "cnameRecords": [],
    "dnsmasq_lines": [],
    "domain": "pi.hole",
    "app_sudo": False,
    "max_sessions": 16,
    "readOnly": False,
}
_TYPES = {bool: "boolean", int: "integer", str: "string", list: "string array"}
_RESTARTS = {"cnameRecords", "dnsmasq_lines"}


def _described(key: str, value: object, config: Config, path: str) -> dict[str, object]:
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
            "env_var": path in config.environment or (key == "hosts" and config.env_hosts),
        },
    }
