"""Identifies a deployment: what it declares, and the conditions under which it does so.

The stack outputs hold this. The next run compares it with its own, and does nothing if both are
equal and nothing has changed in the cluster. It never imports Pulumi.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import replace
from importlib.metadata import version

from pic.core.model import LiveResource, Plan, Resource
from pic.core.version import installed_version
from pic.planning import serialise
from pic.report import event_texts
from pic.run import targets
from pic.run.situation import Situation
from pic.settings.parse import Settings


def deployment(situation: Situation) -> dict[str, object]:
    """Return the stack outputs that identify a deployment of this situation."""
    return {
        "digest": digest(situation.plan, situation.settings, situation.changes.going),
        "deployed": conditions(situation),
        "told": event_texts.digests(situation.warnings),
    }


def conditions(situation: Situation) -> dict[str, object]:
    """Return the versions and settings that decide what the engine makes of the same plan.

    If one of them differs from the last deployment, the next run asks the engine for a preview.
    """
    settings = situation.settings
    result: dict[str, object] = {
        "pic": installed_version(),
        "plugin": version("pulumi-kubernetes"),
        "cluster": situation.snapshot.cluster_id,
        "namespaces": ", ".join(sorted(settings.namespaces)) or "all",
        "targets": ", ".join(sorted(settings.targets)),
        "ingressClasses": ", ".join(sorted(settings.ingress_classes)),
    }
    for target in targets.active(settings):
        result.update(target.conditions(settings))
    return result


def digest(plan: Plan, settings: Settings, going: Iterable[LiveResource] = ()) -> str:
    """Return a digest of everything that a plan declares, and of the version of pic.

    Args:
        plan: What should exist.
        settings: They decide whether owner references are declared.
        going: Objects that Kubernetes is deleting. The state keeps them until they are gone, so
            that moment needs a run.
    """
    declared: list[object] = [_declared(resource, settings) for resource in plan.resources]
    declared += [[record.host, record.ip] for record in plan.records]
    declared += [["going", *live.key] for live in going]
    text = json.dumps([installed_version(), settings.owner_references, declared], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _declared(resource: Resource, settings: Settings) -> list[object]:
    # `held` is left out: a held resource is declared like any other.
    resource = replace(resource, held=False)
    if settings.publishes:
        # Pangolin has neither labels nor owners.
        return [resource.host, *resource.key, serialise.spec(resource.spec)]
    return [serialise.resource(resource), [owner.uid for owner in resource.owners]]
