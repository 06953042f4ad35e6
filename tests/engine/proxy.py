"""Defines rules for the proxy about the writes of the Kubernetes plugin."""

from dev.controlplane.api import APPLY, Api
from dev.controlplane.faults import PLUGIN, Answer, Request, Rule, status


def is_create(request: Request) -> bool:
    """Say whether the plugin, up to 4.28, creates a PangolinResource with this request.

    The plugin uses server-side apply for every write: for a create without a GET before it, for an
    update after a GET, and with an empty object to give up the fields of another manager. Only a
    create has the parameter fieldValidation (observed with 4.25).
    """
    return (
        request.agent == PLUGIN
        and request.method == "PATCH"
        and request.headers.get("content-type") == APPLY
        and "/pangolinresources/" in request.path
        and "fieldValidation=" in request.query
    )


def refusing_creates(api: Api) -> Rule:
    """Return a rule that refuses to create what exists, as happens to plugins from 4.29 on.

    Those create with a POST. Their previews do not report this error, so a dry run passes.
    """

    def rule(request: Request) -> Answer | None:
        if not is_create(request) or "dryRun=" in request.query or not api.has(request.path):
            return None
        return already_exists(request.path)

    return rule


def already_exists(path: str) -> Answer:
    """Return the answer of the API server to the POST of a custom resource that exists."""
    _, _, group, _, _, _, plural, name = path.split("/")
    message = f'{plural}.{group} "{name}" already exists'
    details = {"name": name, "group": group, "kind": plural}
    return Answer(409, {**status(409, "AlreadyExists", message), "details": details})
