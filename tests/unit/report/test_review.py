"""What is put before a reviewer."""

from dataclasses import replace

import pytest

from pic.core.model import (
    HttpConfig,
    LiveResource,
    Plan,
    Resource,
    Spec,
    Target,
)
from pic.core.notices import Notice, Reason, Ref
from pic.planning.changes import (
    Changes,
    Move,
    Update,
    Weakening,
)
from pic.planning.serialise import Json
from pic.report import review
from pic.report.review import (
    Access,
    Loss,
    Opening,
    Refusal,
    Review,
    StackRef,
)
from pic.settings.parse import Settings

PROD = StackRef("pic", "prod")
NONE = Changes("pic.prod", "cluster-1")
PUBLIC, LOGIN = HttpConfig(), HttpConfig(sso=True)
BLOCKED = HttpConfig(sso=True, block_access=True)
WEB = Ref("Ingress", "prod", "web")


def spec(http: HttpConfig, *, enabled: bool | None = True) -> Spec:
    return Spec(enabled=enabled, http=http, targets=(Target("web", 80, "http"),))


def wanted(host: str, http: HttpConfig = PUBLIC, namespace: str = "prod") -> Resource:
    return Resource(host, namespace, f"pic-{host}", (), {}, spec(http))


def live(host: str, http: HttpConfig = PUBLIC, *, enabled: bool | None = True) -> LiveResource:
    made = spec(http, enabled=enabled)
    return LiveResource("prod", f"pic-{host}", f"uid-{host}", host, spec=made)


def update(host: str, there: LiveResource, http: HttpConfig = PUBLIC) -> Update:
    return Update(wanted(host, http), there, ())


@pytest.mark.parametrize(
    ("seen", "who"),
    [
        (spec(PUBLIC), Access.PUBLIC),
        (spec(PUBLIC, enabled=None), Access.PUBLIC),
        (spec(LOGIN), Access.LOGIN),
        (spec(BLOCKED), Access.BLOCKED),
        (spec(PUBLIC, enabled=False), Access.OFF),
    ],
)
def test_who_gets_to_see_a_host(seen: Spec, who: Access) -> None:
    assert review.access(seen) is who


def test_hosts_become_public_when_new_moved_switched_on_or_no_longer_protected() -> None:
    changes = replace(
        NONE,
        created=(wanted("new"), wanted("safe", LOGIN)),
        updated=(
            update("login", live("login", LOGIN)),
            update("blocked", live("blocked", BLOCKED)),
            update("off", live("off", enabled=False)),
            update("as-before", live("as-before")),
            update("half", live("half", BLOCKED), LOGIN),
        ),
        moved=(
            Move(wanted("moved", namespace="team"), live("moved", LOGIN)),
            Move(wanted("moved-as-before", namespace="team"), live("moved-as-before")),
        ),
    )

    assert review.build(PROD, Plan(), changes).openings == (
        Opening(wanted("blocked"), Access.BLOCKED),
        Opening(wanted("login"), Access.LOGIN),
        Opening(wanted("moved", namespace="team"), Access.LOGIN),
        Opening(wanted("new"), None),
        Opening(wanted("off"), Access.OFF),
    )


def test_a_host_that_loses_both_protections_is_one_loss() -> None:
    weakened = (Weakening("b", "sso"), Weakening("a", "sso"), Weakening("b", "blockAccess"))

    found = review.build(
        PROD, Plan((wanted("a", BLOCKED), wanted("b"))), replace(NONE, weakened=weakened)
    )

    assert found.losses == (
        Loss("a", ("login",), Access.BLOCKED),
        Loss("b", ("login", "block"), Access.PUBLIC),
    )


NOTICES = (
    Notice(Reason.BLOCK_ACCESS, WEB, "blocks"),
    Notice(Reason.EMPTY_HOST, WEB, "no host"),
    Notice(Reason.NO_RULES, WEB, "no rules"),
)


def test_without_a_branch_all_notices_are_shown_warnings_first() -> None:
    found = review.build(PROD, Plan(notices=NOTICES), NONE)

    assert [each.message for each in found.notices] == ["no host", "no rules", "blocks"]
    assert found.known_notices is None


def test_with_a_branch_only_what_was_not_there_without_it_is_shown() -> None:
    gone = Notice(Reason.NO_PATHS, WEB, "no paths")

    found = review.build(
        PROD, Plan(notices=NOTICES), NONE, known=frozenset({NOTICES[0], NOTICES[1], gone})
    )

    assert found.notices == (NOTICES[2],)
    assert found.known_notices == 2


def test_a_refusal_names_an_acknowledgement_of_other_changes() -> None:
    reasons = [("too many", True), ("too weak", True)]

    assert review.refused(reasons, NONE, Settings()) == Refusal(("too many", "too weak"), True)  # noqa: FBT003
    assert review.refused(reasons, NONE, Settings(acknowledge="abc")).stale == "abc"
    assert review.refused(reasons, NONE, Settings(acknowledge=NONE.digest)).stale == ""


def test_a_refusal_that_no_digest_helps_against_names_no_acknowledgement() -> None:
    reasons = [("too many", True), ("wrong cluster", False)]

    assert review.refused(reasons, NONE, Settings(acknowledge="abc")) == Refusal(
        ("too many", "wrong cluster"), acknowledgeable=False
    )


def refusal_of(found: Review) -> object:
    as_json: Json = review.as_json(found)
    return as_json["refusal"]


def test_a_refusal_as_json_has_what_lets_it_through() -> None:
    refused = Refusal(("too many",), acknowledgeable=True, stale="abc")

    assert refusal_of(review.build(PROD, Plan(), NONE, refusal=refused)) == {
        "reasons": ["too many"],
        "staleAcknowledgement": "abc",
        "command": f"pic up --stack prod --acknowledge {NONE.digest}",
        "variable": f"PIC_ACKNOWLEDGE={NONE.digest}",
    }


def test_a_refusal_as_json_that_nothing_lets_through_has_no_command() -> None:
    refused = Refusal(("wrong cluster",), acknowledgeable=False)

    assert refusal_of(review.build(PROD, Plan(), NONE, refusal=refused)) == {
        "reasons": ["wrong cluster"],
        "staleAcknowledgement": None,
        "command": None,
        "variable": None,
    }


def test_an_object_whose_host_cannot_be_told_has_none_in_json() -> None:
    changes = replace(NONE, removed=(replace(live("a"), host=""),))

    assert review.as_json(review.build(PROD, Plan(), changes))["removed"] == [
        {"host": None, "namespace": "prod", "name": "pic-a"}
    ]
