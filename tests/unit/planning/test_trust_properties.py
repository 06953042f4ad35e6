"""Tests what is true of every plan with a register, with generated clusters of several tenants."""

from dataclasses import replace
from datetime import timedelta

from hypothesis import assume, given
from hypothesis import settings as running
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from pic.core.ingress import Ingress
from pic.core.model import LiveResource, Plan, Resource, Snapshot
from pic.core.names import STACK_ID_LABEL
from pic.core.register import GoneBy, HostEntry
from pic.planning.changes import between
from pic.planning.memory import recall
from pic.planning.ownership import USABLE
from pic.settings.parse import Settings
from tests.support.memories import OURS, entry
from tests.support.strategies import FEW
from tests.support.tenants import STACK, cluster, ingress, live, plan, settled

SOME = running(FEW, max_examples=150)
HOSTS = [f"h{at}.example.com" for at in range(5)]
NAMESPACES = ("a", "b", "pr-1")
SOURCES = ("web", "api")
# Now is 2026-01-02T00:00:00Z. The first of them has expired in every setting below but one.
GONE = ("2025-12-01T00:00:00Z", "2026-01-01T12:00:00Z", "2026-01-01T23:00:00Z")

places = st.tuples(st.sampled_from(NAMESPACES), st.sampled_from(SOURCES))
switches = st.sampled_from(("true", "false"))


@st.composite
def ingresses(draw: DrawFn, place: tuple[str, str]) -> Ingress:
    namespace, name = place
    options = {"sso": draw(switches), "block_access": draw(switches)}
    if draw(st.integers(0, 5)) == 0:
        options["enabled"] = "false"
    return ingress(
        *draw(st.lists(st.sampled_from(HOSTS), max_size=4, unique=True)),
        namespace=namespace,
        name=name,
        created=draw(st.sampled_from(("2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"))),
        **options,
    )


@st.composite
def entries(draw: DrawFn, host: str) -> HostEntry:
    namespace, source = draw(places)
    remembered = entry(
        host, namespace, source, sso=draw(st.booleans()), block_access=draw(st.booleans())
    )
    if draw(st.booleans()):
        return remembered
    by = draw(st.sampled_from(GoneBy))
    return replace(remembered, gone=draw(st.sampled_from(GONE)), gone_by=by)


@st.composite
def objects(draw: DrawFn, remembered: HostEntry) -> LiveResource:
    """Draw an object that the register knows, as pic has written it or without its owners."""
    return live(
        remembered.host,
        remembered.namespace,
        remembered.source.removeprefix("Ingress/"),
        sso=remembered.sso,
        block=remembered.block_access,
        owned=draw(st.booleans()),
    )


@st.composite
def planted(draw: DrawFn) -> LiveResource:
    """Draw an object that a tenant has written: with our labels, with some of them, or without."""
    namespace, source = draw(places)
    usual = live(draw(st.sampled_from(HOSTS)), namespace, source, owned=draw(st.booleans()))
    labels = {**usual.labels, STACK_ID_LABEL: draw(st.sampled_from(("0a0a0a0a", "0b0b0b0b")))}
    some = draw(st.sampled_from((labels, {}, dict(list(usual.labels.items())[:2]))))
    name = draw(st.sampled_from((usual.name, "planted", f"pic-{namespace}-x")))
    return replace(usual, name=name, labels=some, managed=draw(st.booleans()))


def listed(world: Snapshot, settings: Settings) -> Snapshot:
    """Return what a run with these settings reads of a cluster."""
    if not settings.namespaces:
        return world
    read = [it for it in world.ingresses if it.namespace in settings.namespaces]
    return replace(world, ingresses=tuple(read))


@st.composite
def worlds(draw: DrawFn) -> Snapshot:
    claimed = draw(st.lists(places, max_size=4, unique=True))
    remembered = [draw(entries(host)) for host in draw(st.sets(st.sampled_from(HOSTS)))]
    known = [draw(objects(it)) for it in remembered if not it.gone and draw(st.booleans())]
    others = draw(st.lists(planted(), max_size=2))
    by_key = {it.key: it for it in (*others, *known)}
    return cluster([draw(ingresses(place)) for place in claimed], by_key.values(), remembered)


all_settings: SearchStrategy[Settings] = st.sampled_from(
    (
        settled(),
        settled(max_removals=0, max_removal_ratio=0.0, max_retargeted=0),
        settled(ephemeral=("pr-*",), move_after=timedelta(hours=2)),
        settled(namespaces=("a", "pr-1"), max_removals=1, max_removal_ratio=0.0),
    )
)


@SOME
@given(worlds(), all_settings)
def test_01_02_a_remembered_host_keeps_its_namespace_its_login_and_its_block(
    world: Snapshot, settings: Settings
) -> None:
    world = listed(world, settings)
    memory = recall(world, OURS, settings)

    for resource in plan(world, settings).resources:
        remembered = memory.entry(resource.host)
        if remembered is not None:
            http = resource.spec.http
            assert resource.namespace == remembered.namespace
            assert http.sso or not remembered.sso
            assert http.block_access or not remembered.block_access


@SOME
@given(worlds(), all_settings)
def test_what_tenants_planted_is_neither_changed_nor_removed(
    world: Snapshot, settings: Settings
) -> None:
    world = listed(world, settings)
    memory = recall(world, OURS, settings)
    changes = between(world, plan(world, settings), STACK, memory)

    touched = {live.key for live in changes.removed} | {it.live.key for it in changes.updated}
    usable = {it.key for it in world.live if memory.kind_of(it) in USABLE}
    assert touched <= usable


@SOME
@given(worlds(), all_settings)
def test_a_second_run_changes_nothing(world: Snapshot, settings: Settings) -> None:
    world = listed(world, settings)
    first = plan(world, settings)
    assume(not first.no_host_survives)

    after = deployed(world, first, settings)
    second = plan(after, settings)

    assert second.register == first.register
    changes = between(after, second, STACK, recall(after, OURS, settings))
    assert (bool(changes), changes.register) == (False, ())
    assert {it.digest for it in second.held} == {it.digest for it in first.held}


def deployed(world: Snapshot, first: Plan, settings: Settings) -> Snapshot:
    """Return the cluster after a run: our objects as planned, and all others as they were."""
    memory = recall(world, OURS, settings)
    planned = {it.key: made(it) for it in first.resources}
    others = [it for it in world.live if it.key not in planned and memory.kind_of(it) not in USABLE]
    register = first.register
    assert register is not None
    return replace(
        world,
        live=tuple(sorted((*planned.values(), *others), key=lambda it: it.key)),
        registers={STACK: register},
    )


def made(resource: Resource) -> LiveResource:
    return LiveResource(
        resource.namespace,
        resource.name,
        f"uid-of-{resource.name}",
        resource.host,
        resource.labels,
        resource.owners,
        resource.spec,
        managed=True,
    )
