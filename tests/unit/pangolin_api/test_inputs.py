"""Tests that a resource means the same on both sides of the engine."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pic.core.json_values import Raw
from pic.pangolin_api import inputs, resource
from pic.pangolin_api.model import Health, Rule, Target, Wanted

paths = st.sampled_from([(None, None), ("/shop", "prefix"), ("^/a$", "regex")])
targets = st.builds(
    lambda site, port, method, enabled, path, priority: Target(
        site, "app.prod.svc", port, method, enabled, path[0], path[1], priority=priority
    ),
    st.integers(1, 9),
    st.integers(1, 65535),
    st.sampled_from(["http", "https", "h2c"]),
    st.booleans(),
    paths,
    st.none() | st.integers(1, 1000),
)
resources = st.builds(
    Wanted,
    host=st.just("app.example.com"),
    nice_id=st.just("pic-dev-0-1"),
    domain_id=st.just("d1"),
    subdomain=st.sampled_from([None, "app"]),
    targets=st.lists(targets, max_size=3).map(tuple),
    sso=st.booleans(),
    block=st.booleans(),
    enabled=st.booleans(),
)


@given(resources)
def test_what_is_asked_for_passes_the_engine_unchanged(wanted: Wanted) -> None:
    # The engine stores every number as a float.
    carried = json.loads(json.dumps(inputs.encode(wanted)), parse_int=float)

    assert inputs.decode(carried) == wanted


@pytest.mark.parametrize(
    "more",
    [
        {"rules": (Rule(1, "DROP", "COUNTRY", "XX"),)},
        {"emails": frozenset({"a@example.com"})},
        {"roles": frozenset({3})},
        {"ssl": True},
        {"targets": (Target(1, "app", 80, health=Health()),)},
    ],
)
def test_nothing_that_is_asked_for_is_lost_in_silence(more: Raw) -> None:
    values: dict[str, object] = {
        "host": "app.example.com",
        "nice_id": "n",
        "domain_id": "d1",
        "subdomain": "app",
        "targets": (),
        **more,
    }
    with pytest.raises(ValueError, match="the engine cannot carry all"):
        inputs.encode(Wanted(**values))  # type: ignore[arg-type]


def test_a_flag_that_is_no_boolean_closes_the_host() -> None:
    row = {"siteId": 1, "ip": "app", "port": 80, "enabled": "yes"}
    odd = {"sso": "no", "blockAccess": "false", "enabled": "true", "targets": [row]}

    wanted = inputs.decode(odd)

    assert (wanted.sso, wanted.block, wanted.enabled) == (True, True, False)
    assert [target.enabled for target in wanted.targets] == [False]


def test_every_property_of_a_target_has_its_type() -> None:
    row = {"siteId": 1, "ip": 5, "port": 80, "enabled": "no", "priority": "3", "path": 5}
    given = {"host": "app.example.com", "niceId": "n", "domainId": "d1", "targets": [row]}

    assert list(resource.problems(given)) == [
        ("targets", "target 5:80: enabled is no boolean"),
        ("targets", "target 5:80: ip is no string"),
        ("targets", "target 5:80: path is no string"),
        ("targets", "target 5:80: priority is no integer"),
        ("targets", "target 5:80: a path and its match type belong together"),
    ]
