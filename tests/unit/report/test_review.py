"""Tests what a review contains."""

from dataclasses import replace

import pytest

from pic.core.model import HttpConfig, LiveResource, Plan, Resource, Spec, Target
from pic.core.notices import Notice, Reason, Ref
from pic.planning.changes import Changes, Move, Update, Weakening
from pic.planning.guard import Refusal
from pic.planning.serialise import Json
from pic.report import markdown as markdown_report
from pic.report import review
from pic.report import text as text_report
from pic.report.review import Access, Loss, Opening, Review, StackRef

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
    return LiveResource(
        "prod", f"pic-{host}", f"uid-{host}", host, spec=spec(http, enabled=enabled)
    )


def update(host: str, current: LiveResource, http: HttpConfig = PUBLIC) -> Update:
    return Update(wanted(host, http), current, ())


@pytest.mark.parametrize(
    ("value", "access"),
    [
        (spec(PUBLIC), Access.PUBLIC),
        (spec(PUBLIC, enabled=None), Access.PUBLIC),
        (spec(LOGIN), Access.LOGIN),
        (spec(BLOCKED), Access.BLOCKED),
        (spec(PUBLIC, enabled=False), Access.OFF),
    ],
)
def test_the_access_of_a_host_depends_on_its_spec(value: Spec, access: Access) -> None:
    assert review.access(value) is access


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


def test_a_host_that_loses_login_and_block_is_one_loss() -> None:
    weakened = (Weakening("b", "sso"), Weakening("a", "sso"), Weakening("b", "blockAccess"))

    plan = Plan((wanted("a", BLOCKED), wanted("b")))

    assert review.build(PROD, plan, replace(NONE, weakened=weakened)).losses == (
        Loss("a", ("login",), Access.BLOCKED, "prod"),
        Loss("b", ("login", "block"), Access.PUBLIC, "prod"),
    )


NOTICES = (
    Notice(Reason.BLOCK_ACCESS, WEB, "blocks"),
    Notice(Reason.EMPTY_HOST, WEB, "no host"),
    Notice(Reason.NO_RULES, WEB, "no rules"),
)


def test_without_a_branch_all_notices_are_shown_with_the_warnings_first() -> None:
    whole = review.build(PROD, Plan(notices=NOTICES), NONE)

    assert [notice.message for notice in whole.notices] == ["no host", "no rules", "blocks"]
    assert whole.hidden_notices is None


def test_with_a_branch_only_its_own_notices_are_shown() -> None:
    other = Notice(Reason.NO_PATHS, WEB, "no paths")
    whole = review.build(PROD, Plan(notices=NOTICES), NONE)

    shown = review.hide_notices(whole, {NOTICES[0], NOTICES[1], other})

    assert shown.notices == (NOTICES[2],)
    assert shown.hidden_notices == 2


MANY, WEAK = Refusal("too many"), Refusal("too weak")
OTHER_CLUSTER = Refusal("wrong cluster", acknowledgeable=False)


def refused(*refusals: Refusal, acknowledgement: str = "") -> Review:
    return review.build(PROD, Plan(), NONE, refusals=refusals, acknowledgement=acknowledgement)


def test_a_refused_review_mentions_an_acknowledgement_of_other_changes() -> None:
    plain = refused(MANY, WEAK)

    assert (plain.refusals, plain.acknowledgeable) == ((MANY, WEAK), True)
    assert plain.stale_acknowledgement == ""
    assert refused(MANY, WEAK, acknowledgement="abc").stale_acknowledgement == "abc"
    assert refused(MANY, WEAK, acknowledgement=NONE.digest).stale_acknowledgement == ""


def test_a_refusal_that_cannot_be_acknowledged_mentions_no_acknowledgement() -> None:
    mixed = refused(MANY, OTHER_CLUSTER, acknowledgement="abc")

    assert mixed.refusals == (MANY, OTHER_CLUSTER)
    assert (mixed.acknowledgeable, mixed.stale_acknowledgement) == (False, "")


def test_an_acknowledgement_is_not_stale_if_the_guard_allows_the_changes() -> None:
    assert refused(acknowledgement="abc").stale_acknowledgement == ""


def refusal_json(value: Review) -> object:
    as_json: Json = review.as_json(value)
    return as_json["refusal"]


def test_the_json_of_a_refusal_shows_how_to_acknowledge_it() -> None:
    assert refusal_json(refused(MANY, acknowledgement="abc")) == {
        "reasons": ["too many"],
        "staleAcknowledgement": "abc",
        "command": f"pic up --stack prod --acknowledge {NONE.digest}",
        "variable": f"PIC_ACKNOWLEDGE={NONE.digest}",
    }


def test_the_json_of_a_refusal_that_cannot_be_acknowledged_has_no_command() -> None:
    assert refusal_json(refused(OTHER_CLUSTER)) == {
        "reasons": ["wrong cluster"],
        "staleAcknowledgement": None,
        "command": None,
        "variable": None,
    }


def test_the_json_of_an_object_without_a_host_has_null() -> None:
    changes = replace(NONE, removed=(replace(live("a"), host=""),))

    assert review.as_json(review.build(PROD, Plan(), changes))["removed"] == [
        {"host": None, "namespace": "prod", "name": "pic-a"}
    ]


def test_a_host_that_only_another_controller_protects_is_public_with_that_remark() -> None:
    warning = Notice(Reason.FOREIGN_PROTECTION, WEB, "auth-url has no effect", "new")
    other = Notice(Reason.INVALID_PATH, WEB, "odd", "other")
    changes = replace(
        NONE,
        created=(wanted("new"), wanted("other")),
        updated=(update("was", live("was", LOGIN)),),
    )

    built = review.build(
        PROD, Plan(notices=(warning, other, replace(warning, host="was"))), changes
    )

    assert built.openings == (
        Opening(wanted("new"), None, "auth-url has no effect"),
        Opening(wanted("other"), None),
        Opening(wanted("was"), Access.LOGIN, "auth-url has no effect"),
    )
    assert review.as_json(built)["public"] == [
        {"host": "new", "before": "new", "remark": "auth-url has no effect"},
        {"host": "other", "before": "new", "remark": None},
        {"host": "was", "before": "login", "remark": "auth-url has no effect"},
    ]
    text = text_report.render_review(built)
    assert "! was becomes public (was: login): auth-url has no effect\n" in text
    assert "+ new (prod/pic-new) is created, access: public: auth-url has no effect\n" in text
    markdown = markdown_report.render_review(built)
    assert "| `new` | new | `/ → http://web:80` | `auth-url has no effect` |\n" in markdown
    assert "| `other` | new | `/ → http://web:80` | — |\n" in markdown
