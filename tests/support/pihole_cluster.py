"""Serves a cluster with one Ingress that requests a DNS record, for runs that read a Pi-hole."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from pic.settings.parse import Settings, TargetName
from tests.support.api import (
    CLUSTER,
    REGISTER_NAMESPACE,
    STACK_ID,
    Api,
    fill_cluster,
    ingress,
    serving,
)

PASSWORD = "sesame-opens"  # noqa: S105 - only the Pi-hole of these tests has it
TARGET_IP = "192.0.2.1"
MARKER = f"# k8s:{CLUSTER[:8]}.{STACK_ID[:8]}"


@contextmanager
def serving_cluster(tmp_path: Path) -> Iterator[Api]:
    """Serve the cluster, and write its kubeconfig to `tmp_path`."""
    with serving() as api:
        web = ingress("web", "web.lan")
        web["metadata"]["annotations"] = {
            "pihole.io/register": "true",
            "pihole.io/managed-hosts": "web.lan",
        }
        fill_cluster(api, [web])
        api.kubeconfig(tmp_path / "config")
        yield api


def pihole_settings(url: str, **others: object) -> Settings:
    settings = Settings(
        cluster_id=CLUSTER,
        stack_id=STACK_ID,
        register_namespace=REGISTER_NAMESPACE,
        targets=(TargetName.PIHOLE,),
        pihole_url=url,
        pihole_target_ip=TARGET_IP,
    )
    return replace(settings, **others)  # type: ignore[arg-type] # the names are checked at run time


def environment(tmp_path: Path, **others: str) -> Mapping[str, str]:
    return {"KUBECONFIG": str(tmp_path / "config"), **others}
