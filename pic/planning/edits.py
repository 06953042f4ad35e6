"""Reports what users changed in our objects with kubectl, before pic changes it back.

pic declares whole objects, so its next update sets every field that it declares. The engine's
plugin also takes over the fields that kubectl owns, and then removes those that pic does not
declare. The Ingress is the place for a change that should stay.
"""

from collections.abc import Iterator, Mapping, Sequence

from pic.core.model import KIND, LiveResource, Resource
from pic.core.notices import Notice, Reason, Ref
from pic.planning import serialise


def notices(live: Sequence[LiveResource], planned: Sequence[Resource]) -> Iterator[Notice]:
    """Yield a notice for each planned object that a user has edited, and that pic changes back.

    Args:
        live: The live objects.
        planned: What pic declares, after the guard has judged it: it keeps what is held.
    """
    edited = {it.key: it for it in live if it.edits}
    if not edited:
        return
    for resource in planned:
        if resource.adopts and resource.key in edited:
            changes = list(_changes(edited[resource.key], resource))
            if changes:
                message = f"{'; '.join(changes)}. To keep a change, make it in the Ingress"
                about = Ref(KIND, *resource.key)
                yield Notice(Reason.EDITED_BY_HAND, about, message, resource.host)


def _changes(live: LiveResource, resource: Resource) -> Iterator[str]:
    new, old = serialise.spec(resource.spec), serialise.spec(live.spec)
    for manager, paths in live.edits.items():
        for path in paths:
            value = _dig(new, path)
            # A held object is declared as it is.
            if value is None and not resource.held:
                yield (
                    f"{manager} wrote spec.{path}, which pic does not declare and its next update"
                    " removes"
                )
            elif value is not None and (present := _dig(old, path)) != value:
                yield (
                    f"{manager} set spec.{path} to {serialise.as_text(present)}: pic sets it to"
                    f" {serialise.as_text(value)} again"
                )


def _dig(body: Mapping[str, object], path: str) -> object:
    value: object = body
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
