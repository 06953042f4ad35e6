"""Prints the explanation of a host, the whole way from its Ingress to the operator."""

from collections.abc import Iterator, Mapping, Sequence

from pic.core.register import HostEntry
from pic.core.sources import Ending, Source
from pic.core.stop_advice import advice_on
from pic.core.visible import visible
from pic.planning.explanation import Explanation, Fact, PathFact
from pic.planning.serialise import Json, notice, spec
from pic.report import tables
from pic.report.review import access, held_json
from pic.report.text import notice_line

VERSION = 1
_WIDTH = 12


def remedy(explained: Explanation | Source) -> str:
    """Return what would change what stopped something; empty if pic does not know."""
    return advice_on(explained.stop.reason).remedy if explained.stop.reason else ""


def render_source(source: Source) -> str:
    """Return what became of an Ingress, in a few lines."""
    lines = [f"Ingress {source.about} is {source.ending}"]
    if source.origin:
        lines.append(_line("file", source.origin))
    if source.ending is Ending.IGNORED:
        lines += [*_stop(source)]
    hosts = [f"{fate.host or '(no host)'} {fate.ending}" for fate in source.hosts]
    lines += [_line("host" if not at else "", text) for at, text in enumerate(hosts)]
    return visible_lines(lines)


def render(explained: Explanation, operator: Sequence[str] = ()) -> str:
    """Return the explanation of a host as text.

    Args:
        explained: The explanation.
        operator: What the operator says about the object.
    """
    lines = [_headline(explained), *_stop(explained), *_body(explained, operator)]
    return visible_lines(lines)


def visible_lines(lines: Sequence[str]) -> str:
    """Return lines without characters that could control a terminal or start another line."""
    return "\n".join(visible(line).rstrip() for line in lines)


def _headline(explained: Explanation) -> str:
    host, resource = explained.host, explained.resource
    if explained.ending is None:
        return f"{host} is asked for by no Ingress"
    if resource and explained.ending in (Ending.EXPOSED, Ending.HELD):
        return f"{host} is {explained.ending}: {access(resource.spec)}"
    return f"{host} is {explained.ending}"


def _stop(explained: Explanation | Source) -> Iterator[str]:
    stop = explained.stop
    if stop.message:
        reason = f"{stop.reason}: " if stop.reason else ""
        yield _line("stopped by", f"{reason}{stop.message}")
    if text := remedy(explained):
        yield _line("way out", text)


def _body(explained: Explanation, operator: Sequence[str]) -> Iterator[str]:
    for claimant in explained.claimants:
        source, fate = claimant.source, claimant.fate
        origin = f" ({source.origin})" if source.origin else ""
        outcome = "" if fate.ending is explained.ending else f": {fate.ending}, {fate.stop.message}"
        yield _line("source", f"Ingress {source.about}{origin}, rule {claimant.rule}{outcome}")
        yield from map(_fact, claimant.facts)
    yield from map(_fact, explained.facts)
    for path in explained.paths:
        yield _line("path", _path(path))
    yield from _guard(explained)
    yield from _object(explained)
    for line in operator:
        yield _line("operator", line)
    if explained.entry:
        yield _line("since", _since(explained.entry))
    for told in explained.notices:
        yield _line("notice", notice_line(told))


def _line(name: str, text: str) -> str:
    return f"  {name:<{_WIDTH}} {text}"


def _fact(fact: Fact) -> str:
    return _line(fact.name, f"{fact.value} ({fact.origin})")


def _path(path: PathFact) -> str:
    if path.problem:
        return f"{path.problem} (Ingress {path.ingress})"
    return f"{path.written} → {path.backend} (scheme: {path.scheme_origin})"


def _guard(explained: Explanation) -> Iterator[str]:
    for held in explained.held:
        yield _line("guard", f"{held.verdict}: {held.reason} (acknowledge {held.digest})")
    if explained.judged and explained.resource and not explained.held:
        yield _line("guard", "lets it through")


def _object(explained: Explanation) -> Iterator[str]:
    if live := explained.live:
        yield _line("object", f"{tables.place(live)}, {explained.change or 'as planned'}")
    elif resource := explained.resource:
        yield _line("object", f"{tables.place(resource)} is not live: {explained.change}")


def _since(entry: HostEntry) -> str:
    if entry.gone:
        return f"gone at {entry.gone} by {entry.gone_by}, it was with {entry.namespace}"
    return f"{entry.since or 'an unknown time'}, by the register"


def as_json(explained: Explanation, operator: Mapping[str, object] | None = None) -> Json:
    """Return the explanation of a host as JSON."""
    live, resource, entry = explained.live, explained.resource, explained.entry
    return {
        "host": explained.host,
        "ending": explained.ending,
        "stoppedBy": _json_stop(explained),
        "access": access(resource.spec) if resource else None,
        "sources": [
            {
                "namespace": claimant.source.about.namespace,
                "name": claimant.source.about.name,
                "file": claimant.source.origin or None,
                "rule": claimant.rule,
                "ending": claimant.fate.ending,
                "reason": claimant.fate.stop.reason or None,
                "message": claimant.fate.stop.message or None,
                "settings": list(map(_json_fact, claimant.facts)),
            }
            for claimant in explained.claimants
        ],
        "settings": list(map(_json_fact, explained.facts)),
        "paths": list(map(_json_path, explained.paths)),
        "held": [held_json(held) for held in explained.held],
        "planned": {**_key(resource.key), "spec": spec(resource.spec)} if resource else None,
        "live": {**_key(live.key), "change": explained.change or None} if live else None,
        "operator": operator,
        "register": {
            "namespace": entry.namespace,
            "since": entry.since or None,
            "gone": entry.gone or None,
            "goneBy": entry.gone_by,
        }
        if entry
        else None,
        "notices": [notice(told) for told in explained.notices],
    }


def _json_stop(explained: Explanation | Source) -> Json | None:
    stop = explained.stop
    if not (stop.reason or stop.message):
        return None
    return {
        "reason": stop.reason or None,
        "message": stop.message,
        "remedy": remedy(explained) or None,
    }


def _json_fact(fact: Fact) -> Json:
    return {"name": fact.name, "value": fact.value, "origin": fact.origin}


def _json_path(path: PathFact) -> Json:
    return {
        "path": path.written or None,
        "ingress": path.ingress,
        "backend": path.backend or None,
        "schemeOrigin": path.scheme_origin or None,
        "problem": path.problem or None,
    }


def _key(key: tuple[str, str]) -> Json:
    return dict(zip(("namespace", "name"), key, strict=True))


def document(hosts: Sequence[Json], source: Source | None) -> Json:
    """Return the JSON of all hosts that a user asks about, with the Ingress if it is about one."""
    about = None
    if source:
        about = {
            "namespace": source.about.namespace,
            "name": source.about.name,
            "file": source.origin or None,
            "ending": source.ending,
            "stoppedBy": _json_stop(source),
        }
    return {"version": VERSION, "ingress": about, "hosts": list(hosts)}
