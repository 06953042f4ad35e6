"""What names a deployment: everything that is declared, and by what means. No Pulumi."""

import hashlib
import json
from dataclasses import replace
from importlib.metadata import version

from pic.core.model import Plan
from pic.core.version import installed_version
from pic.planning import serialise
from pic.report import event_texts
from pic.run import targets
from pic.run.situation import Situation
from pic.settings.parse import Settings


def deployment(known: Situation) -> dict[str, object]:
    """Return what the engine's outputs name a deployment of this situation with."""
    return {
        "digest": digest(known.plan, known.settings),
        "deployed": means(known),
        "told": event_texts.digests(known.warnings),
    }


def means(known: Situation) -> dict[str, object]:
    """Return what decides how an engine sees the same plan; exported, for the next run."""
    settings = known.settings
    means: dict[str, object] = {
        "pic": installed_version(),
        "plugin": version("pulumi-kubernetes"),
        "cluster": known.snapshot.cluster_id,
        "namespaces": ", ".join(sorted(settings.namespaces)) or "all",
        "targets": ", ".join(sorted(settings.targets)),
        "ingressClasses": ", ".join(sorted(settings.ingress_classes)),
    }
    for target in targets.active(settings):
        means.update(target.means(settings))
    return means


def digest(planned: Plan, settings: Settings) -> str:
    """Return what names everything that is declared, and the version that declares it."""
    # Being held changes nothing of what is declared.
    declared: list[object] = [
        [serialise.resource(replace(each, held=False)), [owner.uid for owner in each.owners]]
        for each in planned.resources
    ]
    declared += [[each.host, each.ip] for each in planned.records]
    text = json.dumps([installed_version(), settings.owner_references, declared], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
