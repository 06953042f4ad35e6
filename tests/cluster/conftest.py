"""Provides real control planes, and a namespace for each test."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from dev.controlplane import ControlPlane
from tests.support.admin_api import api_of

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.cluster)


@pytest.fixture(scope="session")
def control_plane() -> Iterator[ControlPlane]:
    with ControlPlane(crds="targets") as plane:
        yield plane


@pytest.fixture(scope="session")
def older_control_plane() -> Iterator[ControlPlane]:
    """Provide another control plane, with the older generation of PangolinResource."""
    with ControlPlane(crds="target") as plane:
        yield plane


@pytest.fixture
def namespace(control_plane: ControlPlane) -> Iterator[str]:
    name, api = f"test-{secrets.token_hex(4)}", api_of(control_plane)
    api.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    yield name
    api.request("DELETE", f"/api/v1/namespaces/{name}")
