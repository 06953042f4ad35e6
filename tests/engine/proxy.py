"""Rules for the proxy before the API server, about what the engine's plugin writes."""

from dev.controlplane.api import APPLY, Api
from dev.controlplane.faults import (
    PLUGIN,
    Answer,
    Request,
    Rule,
    status,
)


def is_create(request: Request) -> bool:
    """Say whether the plugin, up to 4.28, makes a PangolinResource with this request.

    All that it writes it applies: a create without having looked, an update after a GET, and then
    an empty object by which it lets go of another manager's fields. Only a create asks for its
    fields to be validated (seen with 4.25).
    """
    return (
        request.agent == PLUGIN
        and request.method == "PATCH"
        and request.headers.get("content-type") == APPLY
        and "/pangolinresources/" in request.path
        and "fieldValidation=" in request.query
    )


def refusing_creates(api: Api) -> Rule:
    """Return the rule that a create of what exists fails, as it does for plugins from 4.29 on.

    Those create by POST. Their previews keep silent about it, so a dry run is let through.
    """

    def rule(request: Request) -> Answer | None:
        if not is_create(request) or "dryRun=" in request.query or not api.has(request.path):
            return None
        return already_exists(request.path)

    return rule


def already_exists(path: str) -> Answer:
    """Return what the API server answers to a POST of what is at a path of a custom resource."""
    _, _, group, _, _, _, plural, name = path.split("/")
    message = f'{plural}.{group} "{name}" already exists'
    details = {"name": name, "group": group, "kind": plural}
    return Answer(409, {**status(409, "AlreadyExists", message), "details": details})
