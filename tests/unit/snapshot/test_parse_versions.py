"""Tests how the fields of an earlier version of Ingress are parsed in the current one."""

import pytest

from pic.core.ingress import ServiceBackend
from pic.core.json_values import MalformedError
from pic.snapshot import parse

NAMED = {"metadata": {"name": "web", "namespace": "prod"}}
V1 = "networking.k8s.io/v1"
PLACE = "spec.rules[0].http.paths[0].backend"


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        (
            {"rules": [{"http": {"paths": [{"backend": {"serviceName": "a"}}]}}]},
            f"{PLACE} has serviceName, which {V1} does not have: write service.name and"
            " service.port.number",
        ),
        (
            {"rules": [{"http": {"paths": [{"backend": {"servicePort": 80}}]}}]},
            f"{PLACE} has servicePort, which {V1} does not have: write service.name and"
            " service.port.number",
        ),
        (
            {"backend": {"serviceName": "a", "servicePort": 80}},
            f"spec has backend, which {V1} does not have: write spec.defaultBackend",
        ),
        (
            {"defaultBackend": {"serviceName": "a", "servicePort": 80}},
            f"spec.defaultBackend has serviceName, which {V1} does not have: write service.name and"
            " service.port.number",
        ),
    ],
)
def test_v1_with_fields_of_v1beta1_is_malformed(spec: object, problem: str) -> None:
    with pytest.raises(MalformedError) as caught:
        parse.ingress({"apiVersion": V1, **NAMED, "spec": spec})

    assert str(caught.value) == problem


def test_v1_prefers_its_own_fields() -> None:
    service = {"name": "new", "port": {"number": 80}}
    spec = {
        "backend": {"serviceName": "old"},
        "defaultBackend": {"service": service, "serviceName": "old"},
    }

    ingress = parse.ingress({"apiVersion": V1, **NAMED, "spec": spec})

    assert ingress.default_backend == ServiceBackend("new", 80)
