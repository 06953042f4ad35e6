"""Generates the reference pages in docs/ from the code: `make docs`.

A test compares the pages with what this module generates, so they cannot go out of date.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from pic.core.advice import ADVICE
from pic.core.notices import NORMAL, Level, Reason
from pic.planning import annotations, dns_requests
from pic.planning.foreign.reading import CONTROLLERS
from pic.planning.foreign.words import Controller, Effect
from pic.run.targets import write_permissions
from pic.settings.parse import Settings, TargetName, settings_table
from pic.settings.permissions import Permission, read_permissions, watch_permissions

DOCS = Path(__file__).resolve().parent.parent / "docs"


def pages() -> dict[str, str]:
    """Return the generated pages by file name."""
    return {
        "annotations.md": _annotations(),
        "moving-from-another-controller.md": _moving(),
        "settings.md": _settings(),
        "notices.md": _notices(),
        "permissions.md": _permissions(),
    }


def _annotations() -> str:
    return _page(
        "Annotations",
        "These annotations of an Ingress change what pic does. For `true` and `false` you can also"
        " write yes and no, on and off, or 1 and 0, in any case.",
        "## Pangolin\n\nThey apply to an Ingress whose class matches `pic:ingressClasses`. Another"
        " annotation with this prefix, or one that looks like ours, gets a warning that suggests"
        " the right one. If it asks for `sso` or `block-access`, it protects all the same."
        " [Moving from another controller](moving-from-another-controller.md) says what becomes of"
        " the annotations of other controllers.\n\n"
        + _keys(annotations.PREFIX, annotations.KEYS)
        + "\n## Pi-hole\n\nThey apply to an Ingress of any class, if `pic:targets` includes"
        " `pihole`: see [Pi-hole](pihole.md).\n\n" + _keys(dns_requests.PREFIX, dns_requests.KEYS),
    )


def _moving() -> str:
    sections = "\n".join(map(_controller, CONTROLLERS))
    names = ", ".join(f"[{it.title}](#{_anchor(it.title)})" for it in CONTROLLERS)
    return _page(
        "Moving from another controller",
        "An Ingress that moves to pic keeps the annotations of its controller, and none of them has"
        " an effect here. This page says what each of them does there, and what happens here in its"
        f" place: {names}.\n\n"
        "## Your own files\n\n"
        "`--from` prints this for each of your Ingresses, before anything changes. `pic plan"
        " --help` lists the controllers:\n\n"
        "```console\n"
        "$ pic plan --offline --manifests deploy/ --from nginx\n"
        "$ helm template . | pic plan --offline --manifests - --from traefik --output markdown\n"
        "```\n\n"
        "## Protection\n\n"
        "Annotations marked **protects** limit who may open a host. Without them the host is public"
        " here. pic warns about each such host (`ForeignProtection`), and a review shows it among"
        " the hosts that become public. Say who may open it:\n\n"
        '- `pangolin.ingress.k8s.io/sso: "true"` requires a login at Pangolin.\n'
        '- `pangolin.ingress.k8s.io/sso: "false"` says that the host should be public, and ends the'
        " warning.\n\n"
        "With `pic:foreignProtection: hold`, pic exposes no new host that only another controller"
        " would protect. With `ignore`, it does not warn. All other annotations without effect are"
        " one remark for each Ingress (`ForeignAnnotation`).\n\n"
        "pic judges an annotation that this page does not list by its prefix and its name. It does"
        " not read annotations of Services, except `appProtocol` of their ports, nor resources such"
        " as Middlewares, HTTPProxies and VirtualServers.\n\n"
        "## Paths\n\n"
        "| path, with path type ImplementationSpecific or none | there | here |\n"
        "| --- | --- | --- |\n"
        "| `/api/*` | GKE and AWS: all paths below /api | the same, as a Prefix (`PathPattern`) |\n"
        "| `/grafana(/\\|$)(.*)` | ingress-nginx: a regular expression, with `use-regex` or"
        " `rewrite-target` | this very text (`PathPattern`, a warning), unless `path-regex` is true"
        " |\n"
        "| `/~/api/v\\d+` | Kong: a regular expression | the same as above; leave out `/~` |",
        sections,
    )


def _controller(controller: Controller) -> str:
    rows = [
        (f"`{word.key}`", word.there, word.here, _EFFECTS[word.effect]) for word in controller.words
    ]
    heads = ("annotation", "there", "here", "without it")
    return f"## {controller.title}\n\n<{controller.source}>\n\n{_table(heads, rows)}"


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


_EFFECTS = {Effect.PROTECTS: "**protects**", Effect.LOST: "no effect", Effect.NONE: "nothing lost"}


def _keys(prefix: str, keys: Iterable[annotations.Key]) -> str:
    rows = [(f"`{prefix}{key.name}`", key.values, key.meaning, key.unreadable) for key in keys]
    return _table(("annotation", "values", "effect", "while it cannot be read"), rows)


def _settings() -> str:
    rows = [
        (f"`pic:{key}`", allowed, default, environment, description)
        for key, allowed, default, environment, description in settings_table()
    ]
    return _page(
        "Settings",
        "Set these in `stacks/Pulumi.<stack>.yaml`."
        " [stacks/Pulumi.example.yaml](../stacks/Pulumi.example.yaml) shows the most common ones."
        " The flag `--config KEY=VALUE`, without `pic:`, changes a setting for one run of `pic`. If"
        " the stack does not set a value, pic takes it from the environment variable. If both are"
        " set and differ, the stack wins and a notice says so. No setting is a secret.\n\n"
        "Only `pic watch` uses `resyncPeriod`. `pic doctor`, `pic up --steal-locks`, and a watcher"
        " that holds its Lease use `lockTimeout`.",
        _table(("setting", "allowed", "default", "environment", "what it does"), rows),
    )


def _notices() -> str:
    rows = [
        (
            reason.value,
            (Level.NORMAL if reason in NORMAL else Level.WARNING).value,
            ADVICE[reason].cause,
            ADVICE[reason].remedy,
            ADVICE[reason].fate.value,
        )
        for reason in sorted(Reason)
    ]
    return _page(
        "Notices",
        "A notice reports something about an object. It appears in the plan, in the log of a run,"
        " and as an Event of the Ingress if it is a warning. The last column says what happens to a"
        " live object when this reason takes away the last usable path of its host: it is deleted,"
        " or it is held (declared again as it is). `n/a` means that the reason takes no path away.",
        _table(("reason", "level", "cause", "what to do", "live object"), rows),
    )


def _permissions() -> str:
    rows = [
        (role, needed.group or "core", needed.resource, needed.verb, _where(needed), needed.why)
        for role, permissions in _roles().items()
        for needed in permissions
    ]
    return _page(
        "Permissions",
        "These are the permissions that pic needs with `pic:targets: [pangolin, pihole]`,"
        " `pic:registerNamespace: pic` and otherwise default settings. *preview* is for the verbs"
        " that only read: `plan`, `diff`, `preview`, `drift`, `status` and `snapshot`. `up` and"
        " `destroy` need *up* as well, and `watch` needs all three.\n\n"
        "Settings change what pic needs:\n\n"
        "- With `pic:namespaces`, pic needs the permissions on Ingresses and Services, and all"
        " permissions to write, only in those namespaces. It always lists its own objects in all"
        " namespaces.\n"
        "- With `pic:tunnelNamespace`, it reads tunnels and organisations only there and in"
        ' `pic:tunnelNamespaces`, where `"."` stands for the namespaces of the Ingresses.\n'
        "- The permissions on ConfigMaps are for the [register](promises.md#the-register). pic"
        " needs them in `pic:registerNamespace`, else in `pic:tunnelNamespace`, and in no other"
        " namespace. Without them it remembers nothing (`RegisterMissing`).\n"
        "- With `pic:resourceSchema` other than `auto`, it does not read the CRD.\n"
        "- If it may not read the namespace kube-system, it takes the id of the cluster from"
        " `pic:clusterId`. It then cannot detect that it runs on the wrong cluster.\n"
        "- The optional permission tells pic which namespaces are being deleted. Without it, pic"
        " takes all of them as there. With `pic:namespaces`, pic gets each of those and does not"
        " list all.\n"
        "- With `pic:events: false`, it creates no Events. With `pic:piholeAnnotate: false`, it"
        " changes no Ingress.\n"
        '- With `""` in `pic:ingressClasses`, it also lists and watches `ingressclasses`.\n\n'
        "`pic init` and `pic doctor` check each permission on the cluster. The roles in"
        " [deploy/roles](../deploy/roles) grant exactly these permissions. The one to change"
        " Ingresses for Pi-hole is a separate component: see [deploying](deploying.md).",
        _table(("for", "API group", "resource", "verb", "where", "what for"), rows),
    )


def _roles() -> dict[str, Iterable[Permission]]:
    everything = Settings(
        targets=(TargetName.PANGOLIN, TargetName.PIHOLE), register_namespace="pic"
    )
    return {
        "preview": read_permissions(everything),
        "up": write_permissions(everything),
        "watch": watch_permissions(everything, "its own"),
    }


def _where(permission: Permission) -> str:
    if permission.namespace:
        return f"namespace: {permission.namespace}"
    return permission.name or "everywhere"


def _page(title: str, introduction: str, tables: str) -> str:
    return f"# {title}\n\n{introduction}\n\n{tables}\nThis page is generated by `make docs`.\n"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(_cell(cell) for cell in line)} |\n" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def main() -> None:
    """Write the generated pages."""
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")
        print(f"docs/{name}")


if __name__ == "__main__":
    main()
