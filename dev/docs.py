"""Writes the pages of docs/ that are made from code: `make docs`; a test compares them."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from pic.core.notices import (
    ADVICE,
    NORMAL,
    Level,
    Reason,
)
from pic.planning import annotations, dns_records
from pic.settings.parse import Settings, TargetName, settings_table
from pic.settings.permissions import (
    Permission,
    reading,
    watching,
    writing,
)

DOCS = Path(__file__).resolve().parent.parent / "docs"


def pages() -> dict[str, str]:
    """Return every made page by its file name."""
    return {
        "annotations.md": _annotations(),
        "settings.md": _settings(),
        "notices.md": _notices(),
        "permissions.md": _permissions(),
    }


def _annotations() -> str:
    return _page(
        "Annotations",
        "On an Ingress. Yes and no may be written true, false, yes, no, on, off, 1 or 0, in any"
        " case.",
        "## Pangolin\n\nThe class of the Ingress must be ours. A key below this prefix that is not"
        " listed here is told with the nearest one that is.\n\n"
        + _keys(annotations.PREFIX, annotations.KEYS)
        + "\n## Pi-hole\n\nOf any class, where `pihole` is in `pic:targets`:"
        " [Pi-hole](pihole.md).\n\n" + _keys(dns_records.PREFIX, dns_records.KEYS),
    )


def _keys(prefix: str, keys: Iterable[annotations.Key]) -> str:
    rows = [(f"`{prefix}{key.name}`", key.values, key.meaning, key.unreadable) for key in keys]
    return _table(("annotation", "values", "effect", "when it cannot be read"), rows)


def _settings() -> str:
    rows = [
        (f"`pic:{key}`", allowed, default, environment, description)
        for key, allowed, default, environment, description in settings_table()
    ]
    return _page(
        "Settings",
        "In `stacks/Pulumi.<stack>.yaml`, or for one run of `pic` with `--config KEY=VALUE`"
        " without the prefix. A variable of the environment counts where the stack is silent; where"
        " both speak and differ, the stack wins and a notice says so. No setting is a secret."
        " `resyncPeriod` is for `pic watch` only; `lockTimeout` for `pic doctor`, `pic up"
        " --steal-locks` and the runs of a watcher that holds its Lease.",
        _table(("setting", "allowed", "default", "environment", "what it does"), rows),
    )


def _notices() -> str:
    rows = [
        (
            reason.value,
            (Level.NORMAL if reason in NORMAL else Level.WARNING).value,
            ADVICE[reason].cause,
            ADVICE[reason].way_out,
            ADVICE[reason].fate.value,
        )
        for reason in sorted(Reason)
    ]
    return _page(
        "Notices",
        "What pic tells about an object, in the plan and in the log of the engine. The last column"
        " says what becomes of a live object when this takes away the last good path of its host:"
        " it goes, it is held (declared again as it is), or the question does not arise.",
        _table(("reason", "level", "cause", "way out", "live object"), rows),
    )


def _permissions() -> str:
    rows = [
        (role, each.group or "core", each.resource, each.verb, _where(each), each.why)
        for role, found in _roles().items()
        for each in found
    ]
    return _page(
        "Permissions",
        "What the verbs of pic need, with `pic:targets: [pangolin, pihole]` and else the default"
        " settings. *preview* is for every verb that looks: `plan`, `diff`, `preview`, `drift`,"
        " `status`, `snapshot`. *up* is on top of that, for `up` and `destroy`, and *watch* on top"
        " of both. With `pic:namespaces`, what has to do with Ingresses is needed in those"
        " namespaces only, and with `pic:tunnelNamespace` what has to do with tunnels and"
        " organisations; our own objects are always listed in all namespaces."
        " `pic:resourceSchema` other than `auto` does without the CRD. `pic:clusterId` stands in"
        " where namespace kube-system may not be read, but then nothing tells a wrong cluster from"
        " the right one. `pic:events: false` does without Events, `pic:piholeAnnotate: false`"
        ' without changing Ingresses, and `""` in `pic:ingressClasses` needs to list (and watch)'
        " `ingressclasses`. `pic init` and `pic doctor` ask the cluster for each; the roles in"
        " [deploy/roles](../deploy/roles) grant exactly these, but for Pi-hole's, which is a"
        " component of its own: [deploying](deploying.md).",
        _table(("for", "API group", "resource", "verb", "where", "what for"), rows),
    )


def _roles() -> dict[str, Iterable[Permission]]:
    everything = Settings(targets=tuple(TargetName))
    return {
        "preview": reading(everything),
        "up": writing(everything),
        "watch": watching(everything, "its own"),
    }


def _where(permission: Permission) -> str:
    if permission.namespace:
        return f"namespace: {permission.namespace}"
    return permission.name or "everywhere"


def _page(title: str, introduction: str, tables: str) -> str:
    return f"# {title}\n\n{introduction}\n\n{tables}\nThis page is made by `make docs`.\n"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(_cell(each) for each in line)} |\n" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def main() -> None:
    """Write the pages."""
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")
        print(f"docs/{name}")


if __name__ == "__main__":
    main()
