"""Tests what is true of the plan of any cluster, with generated objects."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import re2
from hypothesis import given
from hypothesis import strategies as st

from pic.core import names
from pic.core.ingress import PathType
from pic.core.model import Plan
from pic.core.operator_objects import Schema
from pic.planning import hosts, paths, serialise
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


def as_text(plan: Plan) -> str:
    uids = [[owner.uid for owner in resource.owners] for resource in plan.resources]
    return json.dumps([serialise.plan(plan), uids])


def without_places(plan: Plan) -> Plan:
    """Return a plan whose messages do not number rules, and whose hosts have no order."""
    notices = [
        replace(
            notice,
            message=re.sub(r"rules\[\d+\]", "rules[]", notice.message),
            hosts=tuple(sorted(notice.hosts)),
        )
        for notice in plan.notices
    ]
    return replace(plan, notices=tuple(sorted(notices, key=lambda notice: notice.order)))


def host_of(rule: Mapping[str, Any]) -> str:
    try:
        return hosts.normalise(str(rule["host"]))
    except hosts.UnusableHostError:
        return str(rule["host"])


def shuffled(data: st.DataObject, world: World) -> World:
    kinds = {kind: data.draw(st.permutations(raws)) for kind, raws in world.items()}
    return {**kinds, "Ingress": [rules_shuffled(data, raw) for raw in kinds["Ingress"]]}


def rules_shuffled(data: st.DataObject, ingress: Raw) -> Raw:
    """Shuffle the hosts of an Ingress; the rules of one host keep their order."""
    spec: Any = ingress["spec"]
    order = data.draw(st.permutations(sorted({host_of(rule) for rule in spec["rules"]})))
    rules = sorted(spec["rules"], key=lambda rule: order.index(host_of(rule)))
    return {**ingress, "spec": {**spec, "rules": rules}}


@FEW
@given(st.data(), worlds(leave_out=RENAMING), all_settings, all_schemas)
def test_the_order_of_objects_and_hosts_does_not_change_the_plan(
    data: st.DataObject, world: World, settings: Settings, schema: Schema
) -> None:
    other = shuffled(data, world)

    first, second = (without_places(planned(it, settings, schema)) for it in (world, other))
    assert as_text(first) == as_text(second)


@FEW
@given(worlds(), all_settings, all_schemas)
def test_planning_twice_gives_the_same_bytes(
    world: World, settings: Settings, schema: Schema
) -> None:
    assert as_text(planned(world, settings, schema)) == as_text(planned(world, settings, schema))


@FEW
@given(worlds(), all_settings, all_schemas)
def test_public_hosts_and_object_names_are_unique(
    world: World, settings: Settings, schema: Schema
) -> None:
    resources = planned(world, settings, schema).resources

    planned_hosts = [resource.host for resource in resources]
    assert planned_hosts == sorted(set(planned_hosts))
    assert len({resource.key for resource in resources}) == len(resources)


OTHERS = ("bad.example.net", "worse.example.net", *BAD_HOSTS)


@FEW
@given(
    worlds(),
    ingresses("aa", "bad", OTHERS, leave_out=RENAMING),
    st.sampled_from((None, 3, [3], {"rules": 3})),
    all_settings,
)
def test_a_bad_ingress_does_not_affect_other_hosts(
    world: World, bad: Raw, spec: object, settings: Settings
) -> None:
    worse = bad if spec is None else {**bad, "spec": spec}
    with_it = {**world, "Ingress": [worse, *world["Ingress"]]}

    resources = planned(with_it, settings).resources

    good = tuple(resource for resource in resources if resource.host not in OTHERS)
    assert good == planned(world, settings).resources


@FEW
@given(worlds(), all_settings, all_schemas)
def test_every_planned_resource_is_valid(world: World, settings: Settings, schema: Schema) -> None:
    for resource in planned(world, settings, schema).resources:
        assert hosts.public(resource.host) == resource.host
        assert names.is_object_name(resource.name)
        assert names.is_label_name(resource.namespace)
        assert list(resource.labels) == sorted(resource.labels)
        assert [value for value in resource.labels.values() if not legal_label(value)] == []
        assert [owner for owner in resource.owners if owner.namespace != resource.namespace] == []
        assert resource.owners
        spec: Any = serialise.spec(resource.spec)
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
        return [at for key, item in value.items() for at in empty_places(item, f"{path}.{key}")]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [at for item in value for at in empty_places(item, f"{path}[]")]
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
        matched = route.path is None or bool(re2.search(route.path, tried))
        assert (tried, matched) == (tried, expected)


def element_wise(path: str, request: str) -> bool:
    """Say whether a Prefix matches: the request begins with the elements of the path."""
    wanted = [element for element in path.split("/") if element]
    return request.split("/")[1 : len(wanted) + 1] == wanted


@FEW
@given(damaged_worlds(), all_settings, all_schemas)
def test_a_malformed_object_does_not_prevent_a_plan(
    world: World, settings: Settings, schema: Schema
) -> None:
    assert as_text(planned(world, settings, schema))


@FEW
@given(st.lists(st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=2), max_size=2))
def test_malformed_files_do_not_prevent_a_snapshot(bodies: list[Raw]) -> None:
    files = assemble.from_documents(bodies, SCHEMA_TARGETS)

    assert assemble.snapshot(overlay.lay_over(files, files)).ingresses == ()
