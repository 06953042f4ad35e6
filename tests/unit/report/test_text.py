"""Plans and changes as people read them."""

from dataclasses import replace

from pic.core.model import (
    HttpConfig,
    LiveResource,
    Owner,
    Plan,
    Record,
    Resource,
    Spec,
    Target,
    TunnelRef,
)
from pic.core.notices import Notice, Reason, Ref
from pic.planning.changes import (
    Changes,
    FieldChange,
    Move,
    Update,
    Weakening,
)
from pic.report import text as text_report
from pic.report.review import Refusal, StackRef, build

OWNER = Owner("prod", "web", "uid-1")


def resource(host: str, http: HttpConfig | None = None, *, held: bool = False) -> Resource:
    http = http or HttpConfig()
    spec = Spec(tunnel=TunnelRef("home"), http=http, targets=(Target("web", 80, "http"),))
    return Resource(host, "prod", f"pic-{host}", (OWNER,), {}, spec, held)


def live(host: str) -> LiveResource:
    return LiveResource("prod", f"pic-{host}", "uid", host)


def test_an_empty_plan_is_one_line() -> None:
    assert text_report.plan(Plan()) == "0 resources, 0 warnings, 0 remarks"


def test_a_plan_shows_its_hosts_then_records_then_what_needs_attention_then_counts() -> None:
    open_, bare = resource("a.org"), resource("b.org", HttpConfig(sso=True), held=True)
    spec = replace(
        open_.spec,
        tunnel=TunnelRef("home", "tunnels"),
        targets=(
            Target("web", 80, "http", "/api", "prefix", 100),
            Target("web", 8443, "https"),
        ),
    )
    blocked = resource("c.org", HttpConfig(sso=True, block_access=True))
    plan = Plan(
        (
            replace(open_, spec=spec),
            replace(bare, spec=replace(bare.spec, tunnel=None)),
            blocked,
        ),
        (Record("a.org", "10.0.0.1", (OWNER,)),),
        (
            Notice(Reason.BLOCK_ACCESS, Ref("Ingress", "prod", "web"), "it blocks", "c.org"),
            Notice(Reason.EMPTY_HOST, Ref("Ingress", "prod", "web"), "no host"),
            Notice(Reason.SETTING_DIFFERS, Ref("Setting", "", "domains"), "it differs"),
        ),
    )

    assert text_report.plan(plan) == (
        "HOST    OBJECT          TUNNEL        ACCESS        BACKENDS\n"
        "a.org   prod/pic-a.org  tunnels/home  public        /api → http://web:80\n"
        "                                                    / → https://web:8443\n"
        "b.org   prod/pic-b.org                login (held)  / → http://web:80\n"
        "c.org   prod/pic-c.org  home          blocked       / → http://web:80\n"
        "\n"
        "HOST    ADDRESS\n"
        "a.org   10.0.0.1\n"
        "\n"
        "Normal: BlockAccess: Ingress prod/web: it blocks\n"
        "Warning: EmptyHost: Ingress prod/web: no host\n"
        "Warning: SettingDiffers: Setting domains: it differs\n"
        "\n"
        "3 resources, 1 of them held, 1 DNS record, 2 warnings, 1 remark"
    )


def test_no_changes_are_said_in_a_line() -> None:
    assert text_report.changes(Changes("s", "c")) == "Nothing differs from what is live."


def test_changes_begin_with_the_dangerous_ones() -> None:
    long = tuple(FieldChange(f"spec.f{at}", at, at + 1) for at in range(8))
    changes = Changes(
        "s",
        "c",
        created=(resource("new.org"), resource("safe.org", HttpConfig(sso=True))),
        updated=(
            Update(resource("b.org"), live("b.org"), (FieldChange("spec.name", None, "b.org"),)),
            Update(resource("c.org"), live("c.org"), long),
        ),
        removed=(live("gone.org"),),
        moved=(Move(replace(resource("m.org"), namespace="team"), live("m.org")),),
        weakened=(Weakening("b.org", "sso"),),
    )

    assert text_report.changes(changes) == (
        "- gone.org (prod/pic-gone.org) is removed\n"
        "- m.org moves from prod/pic-m.org to team/pic-m.org\n"
        "! b.org loses sso\n"
        "+ new.org (prod/pic-new.org) becomes public\n"
        "+ safe.org (prod/pic-safe.org) becomes login\n"
        "~ b.org: spec.name: None → 'b.org'\n"
        "~ c.org: spec.f0: 0 → 1; spec.f1: 1 → 2; spec.f2: 2 → 3; spec.f3: 3 → 4;"
        " spec.f4: 4 → 5; spec.f5: 5 → 6; and 2 more fields"
    )


def test_a_host_that_is_no_longer_protected_becomes_public() -> None:
    there = replace(live("a.org"), spec=Spec(http=HttpConfig(sso=True)))
    opened = Update(resource("a.org"), there, (FieldChange("spec.httpConfig.sso", True, False),))  # noqa: FBT003

    assert text_report.changes(Changes("s", "c", updated=(opened,))) == (
        "! a.org becomes public (was: login)\n~ a.org: spec.httpConfig.sso: True → False"
    )


def test_a_review_begins_with_its_counts_and_ends_with_its_digest() -> None:
    notice = Notice(Reason.NO_RULES, Ref("Ingress", "prod", "web"), "no \x1b[2J rules")
    changes = Changes("s", "c", known=1, removed=(live("a.org"),))

    assert text_report.review(build(StackRef("pic", "prod"), Plan(notices=(notice,)), changes)) == (
        "1 removed, 1 warning (1 live, 0 planned)\n"
        "\n"
        "- a.org (prod/pic-a.org) is removed\n"
        "\n"
        "Warning: NoRules: Ingress prod/web: no \\u001b[2J rules\n"
        "\n"
        f"digest {changes.digest} · cluster c"
    )


def refused(refusal: Refusal) -> list[str]:
    changes = Changes("s", "")
    made = text_report.review(build(StackRef("pic", "prod"), Plan(), changes, refusal=refusal))
    return made.replace(changes.digest, "DIGEST").splitlines()[2:-4]


def test_a_refused_review_says_why_and_what_lets_it_through() -> None:
    assert refused(Refusal(("too many", "too weak"), acknowledgeable=True, stale="abc")) == [
        "The guard refuses this (digest DIGEST):",
        "- too many",
        "- too weak",
        "The acknowledgement 'abc' is for other changes.",
        "If this is intended, let exactly these changes through, this check with"
        " PIC_ACKNOWLEDGE=DIGEST in its environment, and the deployment with:"
        " pic up --stack prod --acknowledge DIGEST",
    ]


def test_a_refused_review_that_nothing_lets_through_offers_nothing() -> None:
    assert refused(Refusal(("wrong cluster",), acknowledgeable=False)) == [
        "The guard refuses this (digest DIGEST):",
        "- wrong cluster",
    ]
