"""Converts the values of the engine to plain ones, and back; compares them for a diff. No I/O."""

from collections.abc import Iterable, Mapping, Sequence

from pulumi.provider.experimental import provider as sdk
from pulumi.provider.experimental.property_value import Computed, PropertyValue

Values = dict[str, PropertyValue]

# By whether the difference needs a new resource.
_DIFF_KINDS = {
    False: sdk.PropertyDiffKind.UPDATE,
    True: sdk.PropertyDiffKind.UPDATE_REPLACE,
}


def plain(values: Mapping[str, PropertyValue]) -> dict[str, object]:
    """Return values without what the engine adds to them, also inside of lists and maps."""
    return {key: _plain(value) for key, value in values.items()}


def wrapped(values: Mapping[str, object]) -> Values:
    """Return plain values as the engine takes them; it has one kind of numbers."""
    return {key: _wrapped(value) for key, value in values.items()}


def checked(
    given: Mapping[str, PropertyValue],
    inputs: Mapping[str, object],
    problems: Iterable[tuple[str, str]],
) -> sdk.CheckResponse:
    """Return the answer to a check.

    Pulumi calls a value unknown if a resource that does not exist yet decides it. A preview passes
    such values on unchecked.

    Args:
        given: The inputs that the engine has sent.
        inputs: The valid ones in their normal form.
        problems: What is wrong, with the name of the input.
    """
    unknown = {key: value for key, value in given.items() if _is_unknown(value)}
    return sdk.CheckResponse(
        inputs={**wrapped(inputs), **unknown},
        failures=[
            sdk.CheckFailure(name, reason) for name, reason in problems if name not in unknown
        ],
    )


def diffed(
    differences: Iterable[tuple[str, bool]], *, stable: str, delete_first: bool = False
) -> sdk.DiffResponse:
    """Return the answer to a diff.

    Args:
        differences: Each property that differs, and whether it needs a new resource.
        stable: The property that no update changes, so other resources may rely on it.
        delete_first: Whether the old resource goes before the new one comes, whatever the program
            asks for.
    """
    kinds = dict(differences)
    return sdk.DiffResponse(
        changes=bool(kinds),
        replaces=[name for name, replaces in kinds.items() if replaces],
        diffs=[*kinds],
        stables=[stable],
        delete_before_replace=delete_first,
        detailed_diff={
            name: sdk.PropertyDiff(_DIFF_KINDS[replaces], input_diff=True)
            for name, replaces in kinds.items()
        },
    )


def _plain(value: PropertyValue) -> object:
    content = value.value
    if isinstance(content, Mapping):
        return plain(content)
    if isinstance(content, Sequence) and not isinstance(content, str):
        return [_plain(item) for item in content]
    return content


def _wrapped(value: object) -> PropertyValue:
    match value:
        case Mapping():
            return PropertyValue(wrapped(value))
        case list() | tuple():
            return PropertyValue([_wrapped(item) for item in value])
        case bool() | None:
            return PropertyValue(value)
        case int() | float():
            return PropertyValue(float(value))
        case _:
            return PropertyValue(str(value))


def _is_unknown(value: PropertyValue) -> bool:
    content = value.value
    if isinstance(content, Mapping):
        return any(map(_is_unknown, content.values()))
    if isinstance(content, Sequence) and not isinstance(content, str):
        return any(map(_is_unknown, content))
    return isinstance(content, Computed)
