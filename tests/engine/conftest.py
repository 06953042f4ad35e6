"""The real engine on real control planes; a namespace and a stack of its own for each test."""

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
    with ControlPlane(crds="targets", binaries=tools.controlplane) as made:
        yield made


@pytest.fixture(scope="session")
def other_plane(tools: Toolchain) -> Iterator[ControlPlane]:
    """Another cluster, with the older CRD; a test may break it, and mends it in the end."""
    with ControlPlane(crds="target", binaries=tools.controlplane) as made:
        yield made


@pytest.fixture
def stage(plane: ControlPlane, tools: Toolchain) -> Iterator[Stage]:
    with open_stage(plane, tools) as made:
        yield made
        assert made.workspace.processes() == [], "a test leaves no process behind"


@pytest.fixture
def proxy(plane: ControlPlane) -> Iterator[Proxy]:
    """A proxy that refuses to create what exists, as for plugins from 4.29 on."""
    with proxied(plane, refusing_creates(api_of(plane))) as made:
        yield made


@pytest.fixture
def strict_stage(proxy: Proxy, plane: ControlPlane, tools: Toolchain) -> Iterator[Stage]:
    """A stage whose commands go through that proxy."""
    with open_stage(plane, tools, proxy.kubeconfig) as made:
        yield made
        assert made.workspace.processes() == [], "a test leaves no process behind"


@pytest.fixture
def other_stage(other_plane: ControlPlane, tools: Toolchain) -> Iterator[Stage]:
    with open_stage(other_plane, tools) as made:
        yield made


@pytest.fixture
def registry(plane: ControlPlane, tools: Toolchain) -> Iterator[Registry]:
    """A stage with a Pi-hole that others use as well."""
    with PiHole(records=MANUAL) as pihole, set_registry(plane, tools, pihole) as made:
        yield made
        assert made.foreign == MANUAL, "what others have made is as it was"
        assert made.is_at_rest(), "one request at a time, and no session is left"
