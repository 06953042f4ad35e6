"""The values of the engine as plain ones, and back."""

from pulumi.provider.experimental.property_value import Computed, PropertyValue

from pic.provider import values

PLAIN = {"text": "a", "number": 1.0, "flag": True, "list": [{"deep": None}], "map": {"a": ["b"]}}


def test_values_come_back_as_they_were() -> None:
    wrapped = values.wrapped(PLAIN)

    assert values.plain(wrapped) == PLAIN
    assert values.wrapped({"number": 1})["number"] == PropertyValue(1.0)


def test_an_unknown_value_is_not_checked_wherever_it_is() -> None:
    deep = PropertyValue([PropertyValue({"ip": PropertyValue(Computed())})])
    given = {"deep": deep, "flag": PropertyValue(value=True)}

    response = values.checked(
        given, {"flag": True, "deep": "dropped"}, [("deep", "wrong"), ("flag", "wrong")]
    )

    assert response.inputs == {"flag": PropertyValue(value=True), "deep": deep}
    assert [failure.property for failure in response.failures or ()] == ["flag"]
