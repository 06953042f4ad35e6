"""Tests that what users changed with kubectl is reported before pic changes it back."""

from dataclasses import replace

from pic.core.model import KIND, HttpConfig, LiveResource, TunnelRef
from pic.core.notices import Level, Notice, Reason, Ref
from tests.support.memories import entry
from tests.support.tenants import cluster, ingress, live, plan

A = "a.example.com"
KEEP = "To keep a change, make it in the Ingress"


def edited(*fields: str, http: HttpConfig | None = None, **spec: object) -> LiveResource:
    """Return our live object after a user has edited some fields of its spec."""
    ours = live(A)
    changed = replace(ours.spec, http=http or ours.spec.http, **spec)  # type: ignore[arg-type]
    return replace(ours, spec=changed, edits={"kubectl-edit": fields})


def notices(
    resource: LiveResource, *, sso: bool = False, **options: str
) -> list[tuple[Reason, Level, str]]:
    snapshot = cluster([ingress(A, **options)], [resource], [entry(A, sso=sso)])
    return [(it.reason, it.level, it.message) for it in plan(snapshot).notices]


def test_a_field_that_a_user_edited_is_named_before_pic_takes_it_back() -> None:
    resource = edited("enabled", "tunnelRef.name", enabled=False, tunnel=TunnelRef("other"))
    snapshot = cluster([ingress(A)], [resource], [entry(A)])

    assert plan(snapshot).notices == (
        Notice(
            Reason.EDITED_BY_HAND,
            Ref(KIND, *resource.key),
            "kubectl-edit set spec.enabled to false: pic sets it to true again; kubectl-edit set"
            f' spec.tunnelRef.name to "other": pic sets it to "default" again. {KEEP}',
            A,
        ),
    )


def test_a_login_that_a_user_took_away_is_named() -> None:
    public = edited(
        "httpConfig.sso", http=HttpConfig("example.com", "a", sso=False, block_access=False)
    )

    assert notices(public, sso=True)[1:] == [
        (
            Reason.EDITED_BY_HAND,
            Level.WARNING,
            f"kubectl-edit set spec.httpConfig.sso to false: pic sets it to true again. {KEEP}",
        )
    ]


def test_a_field_that_pic_does_not_declare_is_named_because_its_next_update_removes_it() -> None:
    assert notices(edited("siteRef.siteId")) == [
        (
            Reason.EDITED_BY_HAND,
            Level.WARNING,
            "kubectl-edit wrote spec.siteRef.siteId, which pic does not declare and its next update"
            f" removes. {KEEP}",
        )
    ]


def test_an_edit_to_the_planned_value_changes_nothing_back() -> None:
    assert notices(edited("enabled", "targets")) == []


def test_an_edit_that_the_guard_keeps_is_not_reported_as_taken_back() -> None:
    signed_in = edited(
        "httpConfig.sso", http=HttpConfig("example.com", "a", sso=True, block_access=False)
    )

    # Nobody asks for this login, so taking it away waits for an acknowledgement.
    assert [reason for reason, *_ in notices(signed_in)] == [Reason.HELD]


def test_an_edited_object_that_the_plan_does_not_have_is_not_reported() -> None:
    snapshot = cluster([ingress("b.example.com")], [edited("enabled", enabled=False)], [entry(A)])

    assert Reason.EDITED_BY_HAND not in {it.reason for it in plan(snapshot).notices}
