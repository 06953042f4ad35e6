"""Which targets are created, sent again, and deleted."""

from dataclasses import replace

from pic.core.json_values import Raw
from pic.pangolin_api.model import Health, LiveTarget, Target
from pic.pangolin_api.targets import TargetChanges, compare
from tests.support.pangolin_client import OTHER, TARGET

BODY: Raw = {
    "siteId": 1,
    "ip": "10.0.0.1",
    "port": 80,
    "method": "http",
    "enabled": True,
    "path": None,
    "pathMatchType": None,
    "rewritePath": None,
    "rewritePathType": None,
    "priority": 100,
}
CHECK: Raw = {
    "hcEnabled": True,
    "hcPath": "/",
    "hcPort": 80,
    "hcHostname": "10.0.0.1",
    "hcScheme": "http",
    "hcMode": "http",
    "hcMethod": "GET",
}
FIELDS = frozenset(BODY) | frozenset(CHECK) | {"hcTimeout", "hcHeaders"}


def live(number: int = 1, **fields: object) -> LiveTarget:
    extra = {"targetId": number, "hcTimeout": 5, "hcHealth": "unknown", "internalPort": 4000}
    return LiveTarget(number, {**BODY, **extra, **fields})


def test_equal_targets_are_left_alone() -> None:
    assert compare([live(path="", hcEnabled=False)], [TARGET], FIELDS) == TargetChanges()


def test_a_new_target_is_sent_whole() -> None:
    assert compare([], [TARGET, TARGET], FIELDS) == TargetChanges(creates=(BODY,))


def test_a_health_check_has_all_that_newer_versions_want() -> None:
    target = replace(TARGET, method="https", health=Health(path="/up", port=81, interval=9))
    body = compare([], [target], FIELDS).creates[0]
    assert {name: body[name] for name in ("hcPort", "hcScheme", "hcInterval", "hcPath")} == {
        "hcPort": 81,
        "hcScheme": "https",
        "hcInterval": 9,
        "hcPath": "/up",
    }


def test_a_difference_sends_the_whole_target_with_what_others_have_set() -> None:
    change = compare([live(priority=7, hcEnabled=True)], [TARGET], FIELDS)
    body = {**BODY, "hcEnabled": True, "hcTimeout": 5}
    assert change == TargetChanges(updates=((1, body),))


def test_a_health_check_can_be_switched_off() -> None:
    target = replace(TARGET, health=Health(enabled=False))
    change = compare([live(hcEnabled=True)], [target], FIELDS)
    assert change.updates == ((1, {**BODY, "hcEnabled": False, "hcTimeout": 5}),)


def test_another_address_or_path_is_another_target() -> None:
    path = replace(TARGET, path="/x", match="prefix")
    change = compare([live()], [OTHER, path], FIELDS)
    assert ([body["ip"] for body in change.creates], change.deletes) == (
        ["10.0.0.2", "10.0.0.1"],
        (1,),
    )


def test_of_two_equal_live_targets_one_goes() -> None:
    assert compare([live(1), live(2)], [TARGET], FIELDS) == TargetChanges(deletes=(2,))


def test_a_target_with_a_health_check_is_waited_for_before_another_one_goes() -> None:
    checked = replace(OTHER, health=Health())
    new = compare([live()], [checked], FIELDS)
    kept = compare([live(hcEnabled=True), live(2, port=9)], [TARGET], FIELDS)
    alone = compare([], [checked], FIELDS)
    waits = [change.wait_for_health for change in (new, kept, alone)]
    assert waits == [True, True, False]


def test_every_kind_of_method_has_a_scheme_for_its_health_check() -> None:
    target = Target(1, "web", 80, method="h2c", health=Health())
    assert compare([], [target], FIELDS).creates[0]["hcScheme"] == "http"
