"""Installs the CustomResourceDefinitions of `dev/crds`, and waits until they are served."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from dev.controlplane.api import APPLY, Api, RefusedError
from dev.controlplane.processes import Deadline

Generation = Literal["targets", "target"]

HOME = Path(__file__).parents[1] / "crds"
GROUP = "/apis/tunnel.pangolin.io/v1alpha1"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
KINDS = {"pangolinresources", "pangolintunnels", "pangolinorganizations", "pangolinbindings"}

PROBE = """\
apiVersion: tunnel.pangolin.io/v1alpha1
kind: PangolinResource
metadata: {{name: probe}}
spec: {{{field}: {value}}}
"""
PROBE_VALUES = {"targets": "[{ip: probe, port: 80}]", "target": "{ip: probe, port: 80}"}


def install(api: Api, generation: Generation, deadline: Deadline) -> None:
    """Apply the definitions of a generation, and wait until the API server serves them."""
    for path in (*sorted(HOME.glob("*.yaml")), HOME / generation / "pangolinresources.yaml"):
        where = f"{DEFINITIONS}/{path.stem}.tunnel.pangolin.io?fieldManager=pic-dev&force=true"
        api.request("PATCH", where, path.read_text(), APPLY)
    deadline.until(lambda: _are_established(api), "established CustomResourceDefinitions")
    deadline.until(lambda: are_discovered(api), "discovery of the CustomResourceDefinitions")
    deadline.until(lambda: _serves(api, generation), f"schema of generation {generation}")


def are_discovered(api: Api) -> bool:
    """Say whether API discovery lists every kind."""
    try:
        resources = api.request("GET", GROUP)["resources"]
    except RefusedError:
        return False
    return {resource["name"] for resource in resources} >= KINDS


def _are_established(api: Api) -> bool:
    definitions = (api.request("GET", f"{DEFINITIONS}/{kind}.tunnel.pangolin.io") for kind in KINDS)
    return all(_is_established(definition) for definition in definitions)


def _is_established(definition: Mapping[str, Any]) -> bool:
    conditions = definition["status"]["conditions"] or ()  # null at first
    return any(
        (condition["type"], condition["status"]) == ("Established", "True")
        for condition in conditions
    )


def _serves(api: Api, generation: Generation) -> bool:
    """Try a field that only this generation has, as a dry run.

    It is an apply, because the API server delays every create during the first two seconds of a
    definition.
    """
    where = f"{GROUP}/namespaces/default/pangolinresources/probe?fieldManager=pic-dev&dryRun=All"
    try:
        probe = PROBE.format(field=generation, value=PROBE_VALUES[generation])
        api.request("PATCH", where, probe, APPLY)
    except RefusedError:
        return False
    return True
