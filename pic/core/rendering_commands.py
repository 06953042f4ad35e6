"""Writes the commands that render files, so that they work when a user copies them. No I/O."""

import shlex

_PLAN = "pic plan --offline --manifests -"


def helm(chart: str) -> str:
    """Return the command that plans from the rendered chart in a folder."""
    return f"helm template {shlex.quote(chart)} | {_PLAN}"


def kustomize(folder: str) -> str:
    """Return the command that plans from the rendered kustomization in a folder."""
    return f"kustomize build {shlex.quote(folder)} | {_PLAN}"
