"""Implements `pic explain`: says why a host is exposed or not, the whole way."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches

from pic.cli import common, reporting
from pic.cluster import status
from pic.cluster.status import StatusRow
from pic.core.errors import SettingsError
from pic.core.model import Snapshot
from pic.core.sources import Source
from pic.core.visible import visible
from pic.planning import hosts as host_names
from pic.planning.explanation import Explainer, Explanation
from pic.planning.memory import recall
from pic.planning.trail import FullTrail
from pic.report import explanation as report
from pic.run import planning, reading
from pic.run.planning import Closer
from pic.run.stack_config import StackConfig
from pic.settings.kinds import RESOURCE
from pic.snapshot import assemble, branch
from pic.snapshot.branch import Branch, propose

INGRESS = "ingress"
MOST_NEAR, LONGEST_SHOWN = 3, 100


@dataclass(frozen=True, slots=True)
class _World:
    """What the question is asked about, and what the operator says about each object."""

    config: StackConfig
    snapshot: Snapshot
    rows: Mapping[tuple[str, str], StatusRow] = field(default_factory=dict)
    closer: Closer = planning.BLIND


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    verb = common.add(
        verbs,
        "explain",
        "say why a host or an Ingress is exposed, or why not; read-only",
        "Show what decides about a host, the whole way: the Ingress and its rule, the class, each"
        " setting and where it came from, the tunnel, the domain, each path and its backend, login"
        " and block, the verdict of the guard, the live object, what the operator says, and since"
        " when. For a host that is not exposed, show the first rule that stopped it, and what would"
        " change that. This changes nothing.",
        "  pic explain --stack prod app.example.com\n"
        "  pic explain --stack prod ingress apps/web\n"
        "  pic explain --stack prod --snapshot prod.json app.example.com --output json\n"
        "  pic explain app.example.com --offline --manifests deploy/",
    )
    verb.add_argument(
        "what",
        nargs="+",
        metavar="HOST",
        help="a host, or the word ingress and NAMESPACE/NAME",
    )
    common.add_manifests(verb)
    reporting.add_offline(verb)
    reporting.add_snapshot(verb)
    common.add_output(verb)
    verb.set_defaults(run=run)


def run(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Print the explanation."""
    key = _ingress_key(options.what)
    reporting.check_sources(options)
    _, config = common.load(options, environment, offline=options.offline)
    world = _read(options, config, environment)
    explainer = _explainer(world)
    source = _source(explainer, key) if key else None
    names = explainer.hosts_of(source) if source else [_host(explainer, options.what[0])]
    explanations = [explainer.explain(name) for name in names]
    sys.stdout.write(_text(explanations, source, world, as_json=options.output == "json"))
    return 0


def _ingress_key(words: Sequence[str]) -> tuple[str, str] | None:
    """Return namespace and name of the Ingress that a user asks about; None for a host."""
    if words[0].lower() != INGRESS:
        if len(words) > 1:
            raise SettingsError(["pic explain takes one host, or: ingress NAMESPACE/NAME"])
        return None
    namespace, slash, name = words[1].partition("/") if len(words) == 2 else ("", "", "")
    if not (namespace and slash and name) or "/" in name:
        raise SettingsError(["name the Ingress as NAMESPACE/NAME: pic explain ingress apps/web"])
    return namespace, name


def _read(
    options: argparse.Namespace, config: StackConfig, environment: Mapping[str, str]
) -> _World:
    read, settings = common.file_options(options), config.settings
    if options.offline:
        snapshot = branch.offline_snapshot(
            options.manifests, settings, read, complete=options.complete
        )
        return _World(config, planning.decided(config, snapshot))
    if not options.snapshot:
        common.progress(options, "reading the cluster")
    raw = reading.read_cluster_or_file(settings, environment, options.snapshot)
    report_ = status.build_report(raw.objects.get(RESOURCE, ()), config.ownership)
    raw = propose(raw, Branch(options.manifests, options=read), settings).after
    snapshot = planning.decided(config, assemble.snapshot(raw))
    rows = {row.key: row for row in report_.rows}
    # A snapshot file holds all that may be read.
    closer = planning.BLIND if options.snapshot else Closer(environment)
    return _World(config, snapshot, rows, closer)


def _explainer(world: _World) -> Explainer:
    config, trails = world.config, list[FullTrail]()

    def new_trail() -> FullTrail:
        trails.append(FullTrail())
        return trails[-1]

    snapshot, plan = planning.planned(config, world.snapshot, world.closer, new_trail)
    changes = planning.changes_for(config, snapshot, plan)
    judged = bool(config.ownership.stack)
    register = recall(snapshot, config.ownership, config.settings).register
    return Explainer(snapshot, config.settings, plan, changes, trails[-1], register.hosts, judged)


def _host(explainer: Explainer, text: str) -> str:
    """Return the host that a user means.

    Raises:
        SettingsError: Nothing names this host.
    """
    shown = visible(text[:LONGEST_SHOWN])
    if "://" in text or "/" in text:
        raise SettingsError([f"{shown} is not a host: write it without scheme and path"])
    known = explainer.hosts
    if text in known:
        return text
    try:
        host = host_names.normalise(text)
    except host_names.UnusableHostError as error:
        raise SettingsError([f"{shown} is not a host: {error}"]) from error
    if host not in known:
        near = get_close_matches(host, sorted(known), n=MOST_NEAR)
        hint = f"; the nearest are {', '.join(map(visible, near))}" if near else ""
        raise SettingsError(
            [
                f"no Ingress asks for {shown}, and pic does not remember it{hint}:"
                " pic plan --all shows every Ingress and its hosts"
            ]
        )
    return host


def _source(explainer: Explainer, key: tuple[str, str]) -> Source:
    if source := explainer.source(key):
        return source
    names = [str(source.about) for source in explainer.plan.sources]
    wanted = "/".join(key)
    near = get_close_matches(wanted, names, n=MOST_NEAR)
    hint = f"; the nearest are {', '.join(near)}" if near else ""
    raise SettingsError(
        [
            f"there is no Ingress {visible(wanted[:LONGEST_SHOWN])}{hint}:"
            " pic plan --all shows every Ingress"
        ]
    )


def _text(
    explanations: Sequence[Explanation], source: Source | None, world: _World, *, as_json: bool
) -> str:
    if as_json:
        hosts = [report.as_json(it, _operator_json(it, world)) for it in explanations]
        document = report.document(hosts, source)
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    parts = [report.render_source(source)] if source else []
    parts += [report.render(it, _operator(it, world)) for it in explanations]
    return "\n\n".join(parts) + "\n"


def _row(explained: Explanation, world: _World) -> StatusRow | None:
    return world.rows.get(explained.live.key) if explained.live else None


def _operator(explained: Explanation, world: _World) -> list[str]:
    row = _row(explained, world)
    if row is None:
        return []
    message = f": {status.short_line(row.message)}" if row.message else ""
    return [f"{row.readiness}{message}"]


def _operator_json(explained: Explanation, world: _World) -> Mapping[str, object] | None:
    row = _row(explained, world)
    if row is None:
        return None
    shown = asdict(row)
    return {name: shown[name] for name in ("readiness", "phase", "message", "url", "binding")}
