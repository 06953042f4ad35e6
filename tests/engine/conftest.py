"""Provides the real engine and real control planes, with a namespace and a stack per test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dev import toolchain
from dev.controlplane import ControlPlane
from dev.controlplane.proxy import Proxy, proxied
from dev.pihole import PiHole
from dev.toolchain import Toolchain
from tests.engine.proxy import refusing_creates
from tests.engine.records import MANUAL, Registry, set_registry
from tests.engine.stage import Stage, open_stage
from tests.support.admin_api import api_of

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.engine)


@pytest.fixture(scope="session")
def tools() -> Toolchain:
    return toolchain.resolve(echo=lambda _: None)


@pytest.fixture(scope="session")
def plane(tools: Toolchain) -> Iterator[ControlPlane]:
    with ControlPlane(crds="targets", binaries=tools.controlplane) as plane:
        yield plane


@pytest.fixture(scope="session")
def other_plane(tools: Toolchain) -> Iterator[ControlPlane]:
    """Provide another cluster with the older CRD; a test that breaks it must repair it."""
    with ControlPlane(crds="target", binaries=tools.controlplane) as plane:
        yield plane


@pytest.fixture
def stage(plane: ControlPlane, tools: Toolchain) -> Iterator[Stage]:
    with open_stage(plane, tools) as stage:
        yield stage
        assert stage.workspace.processes() == [], "a test leaves no process behind"


@pytest.fixture
def proxy(plane: ControlPlane) -> Iterator[Proxy]:
    """Provide a proxy that refuses to create what exists, as for plugins from 4.29 on."""
    with proxied(plane, refusing_creates(api_of(plane))) as proxy:
        yield proxy


@pytest.fixture
def strict_stage(proxy: Proxy, plane: ControlPlane, tools: Toolchain) -> Iterator[Stage]:
    """Provide a stage whose commands go through that proxy."""
    with open_stage(plane, tools, proxy.kubeconfig) as stage:
        yield stage
        assert stage.workspace.processes() == [], "a test leaves no process behind"


@pytest.fixture
def other_stage(other_plane: ControlPlane, tools: Toolchain) -> Iterator[Stage]:
    with open_stage(other_plane, tools) as stage:
        yield stage


@pytest.fixture
def registry(plane: ControlPlane, tools: Toolchain) -> Iterator[Registry]:
    """A stage with a Pi-hole that others use as well."""
    with PiHole(records=MANUAL) as pihole, set_registry(plane, tools, pihole) as registry:
        yield registry
        assert registry.foreign == MANUAL, "the records of others are unchanged"
        assert registry.is_at_rest(), "one request at a time, and no session is left"
