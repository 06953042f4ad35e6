"""Writes manifest files."""

from pathlib import Path

import yaml


def ingress_manifest(name: str, namespace: str = "prod") -> dict[str, object]:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {"name": name, "namespace": namespace, "uid": "uid"},
    }


def write_manifests(folder: Path, *objects: dict[str, object]) -> str:
    """Write objects to one file, and return its path."""
    path = folder / "web.yaml"
    path.write_text(yaml.safe_dump_all(objects))
    return str(path)
