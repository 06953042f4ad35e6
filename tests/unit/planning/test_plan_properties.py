import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import re2
from hypothesis import given
from hypothesis import strategies as st

from pic.core import names
from pic.core.model import PathType, Plan, Schema
from pic.planning import (
    hosts,
    paths,
    serialise,
)
from pic.planning.ownership import Ownership
from pic.run.targets import build_plan
from pic.settings.parse import Settings
from pic.snapshot import assemble, overlay
from pic.snapshot.assemble import RawSnapshot
from pic.snapshot.pangolin import SCHEMA_TARGETS
from tests.support.strategies import (
    BAD_HOSTS,
    FEW,
    MANY,
    RENAMING,
    STACK,
    Raw,
    World,
    all_schemas,
    all_settings,
    damaged_worlds,
    ingresses,
    worlds,
)


def planned(world: World, settings: Settings, schema: Schema = SCHEMA_TARGETS) -> Plan:
    snapshot = assemble.snapshot(RawSnapshot(world, schema=schema))
    return build_plan(snapshot, settings, STACK, Ownership(STACK, adopt=settings.adopt))


def written(found: Plan) -> str:
    uids = [[owner.uid for owner in each.owners] for each in found.resources]
    return json.dumps([serialise.plan(found), uids])


def host_of(rule: Mapping[str, Any]) -> str:
    try:
        return hosts.normalise(str(rule["host"]))
    except hosts.UnusableHostError:
        return str(rule["host"])


def shuffled(data: st.DataObject, world: World) -> World:
    found = {kind: data.draw(st.permutations(raws)) for kind, raws in world.items()}
    return {**found, "Ingress": [rules_shuffled(data, raw) for raw in found["Ingress"]]}


def rules_shuffled(data: st.DataObject, ingress: Raw) -> Raw:
    """Shuffle the hosts of an Ingress; the rules of one host keep their order."""
    spec: Any = ingress["spec"]
    order = data.draw(st.permutations(sorted({host_of(rule) for rule in spec["rules"]})))
    rules = sorted(spec["rules"], key=lambda rule: order.index(host_of(rule)))
    return {**ingress, "spec": {**spec, "rules": rules}}


@FEW
@given(st.data(), worlds(leave_out=RENAMING), all_settings, all_schemas)
def test_the_order_of_objects_and_of_hosts_never_changes_the_plan(
    data: st.DataObject, world: World, settings: Settings, schema: Schema
) -> None:
    other = shuffled(data, world)

    assert written(planned(other, settings, schema)) == written(planned(world, settings, schema))


@FEW
@given(worlds(), all_settings, all_schemas)
def test_planning_twice_gives_the_same_bytes(
    world: World, settings: Settings, schema: Schema
) -> None:
    assert written(planned(world, settings, schema)) == written(planned(world, settings, schema))


@FEW
@given(worlds(), all_settings, all_schemas)
def test_a_public_host_and_an_object_name_are_there_once(
    world: World, settings: Settings, schema: Schema
) -> None:
    found = planned(world, settings, schema).resources

    assert [each.host for each in found] == sorted({each.host for each in found})
    assert len({each.key for each in found}) == len(found)


OTHERS = ("bad.example.net", "worse.example.net", *BAD_HOSTS)


@FEW
@given(
    worlds(),
    ingresses("aa", "bad", OTHERS, leave_out=RENAMING),
    st.sampled_from((None, 3, [3], {"rules": 3})),
    all_settings,
)
def test_a_bad_ingress_never_touches_hosts_of_others(
    world: World, bad: Raw, spec: object, settings: Settings
) -> None:
    worse = bad if spec is None else {**bad, "spec": spec}
    with_it = {**world, "Ingress": [worse, *world["Ingress"]]}

    found = planned(with_it, settings).resources

    ours = tuple(each for each in found if each.host not in OTHERS)
    assert ours == planned(world, settings).resources


@FEW
@given(worlds(), all_settings, all_schemas)
def test_everything_planned_is_legal(world: World, settings: Settings, schema: Schema) -> None:
    for each in planned(world, settings, schema).resources:
        assert hosts.public(each.host) == each.host
        assert names.is_object_name(each.name)
        assert names.is_label_name(each.namespace)
        assert list(each.labels) == sorted(each.labels)
        assert [value for value in each.labels.values() if not legal_label(value)] == []
        assert [owner for owner in each.owners if owner.namespace != each.namespace] == []
        assert each.owners
        spec: Any = serialise.spec(each.spec)
        assert empty_places(spec) == []
        targets = spec.get("targets", [spec["target"]] if "target" in spec else [])
        assert [target for target in targets if not legal_target(target)] == []


def legal_label(value: str) -> bool:
    return bool(re.fullmatch(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?", value))


def legal_target(target: Mapping[str, Any]) -> bool:
    whole = {"path", "pathMatchType", "priority"} & target.keys()
    return (
        1 <= target["port"] <= 65535
        and len(whole) in (0, 3)
        and 1 <= target.get("priority", 1) <= 1000
        and target.get("priority") != 100
    )


def empty_places(value: object, path: str = "") -> list[str]:
    if value in (None, "", {}, []):
        return [path]
    if isinstance(value, Mapping):
        return [at for key, each in value.items() for at in empty_places(each, f"{path}.{key}")]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [at for each in value for at in empty_places(each, f"{path}[]")]
    return []


elements = st.lists(st.text("ab.$+%-\\(", max_size=3), max_size=4)


@MANY
@given(elements, elements, st.booleans())
def test_a_prefix_matches_element_by_element(
    wanted: list[str],
    more: list[str],
    slash: bool,  # noqa: FBT001
) -> None:
    path = "/" + "/".join(filter(None, wanted)) + ("/" if slash else "")
    request = "/" + "/".join([*filter(None, wanted), *more])
    try:
        route = paths.translate(path, PathType.PREFIX, regex=False)
    except paths.UnusablePathError:
        return

    for tried in (request, request[:-1], f"{request}/", "/" + "/".join(more)):
        expected = element_wise(path, tried)
        found = route.path is None or bool(re2.search(route.path, tried))
        assert (tried, found) == (tried, expected)


def element_wise(path: str, request: str) -> bool:
    """Say whether Kubernetes' Prefix matches: each element of the path is the request's."""
    wanted = [element for element in path.split("/") if element]
    return request.split("/")[1 : len(wanted) + 1] == wanted


@FEW
@given(damaged_worlds(), all_settings, all_schemas)
def test_whatever_an_object_looks_like_there_is_a_plan(
    world: World, settings: Settings, schema: Schema
) -> None:
    assert written(planned(world, settings, schema))


@FEW
@given(st.lists(st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=2), max_size=2))
def test_whatever_files_hold_there_is_a_snapshot(bodies: list[Raw]) -> None:
    files = assemble.from_documents(bodies, SCHEMA_TARGETS)

    assert assemble.snapshot(overlay.lay_over(files, files)).ingresses == ()
