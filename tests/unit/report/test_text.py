"""Tests plans, changes and reviews as plain text, and that the other forms agree with it."""

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
from pic.planning.changes import Changes, FieldChange, Move, Update, Weakening
from pic.planning.guard import Refusal
from pic.report import html, markdown
from pic.report import text as text_report
from pic.report.review import StackRef, build

OWNER = Owner("prod", "web", "uid-1")


def resource(host: str, http: HttpConfig | None = None, *, held: bool = False) -> Resource:
    http = http or HttpConfig()
    spec = Spec(tunnel=TunnelRef("home"), http=http, targets=(Target("web", 80, "http"),))
    return Resource(host, "prod", f"pic-{host}", (OWNER,), {}, spec, held)


def live(host: str) -> LiveResource:
    return LiveResource("prod", f"pic-{host}", "uid", host)


def test_an_empty_plan_is_one_line_of_counts() -> None:
    assert text_report.render_plan(Plan()) == "0 resources, 0 warnings, 0 remarks"


def test_a_plan_shows_hosts_then_records_then_notices_then_counts() -> None:
    public, bare = resource("a.org"), resource("b.org", HttpConfig(sso=True), held=True)
    spec = replace(
        public.spec,
        tunnel=TunnelRef("home", "tunnels"),
        targets=(
            Target("web", 80, "http", "/api", "prefix", 100),
            Target("web", 8443, "https"),
        ),
    )
    blocked = resource("c.org", HttpConfig(sso=True, block_access=True))
    plan = Plan(
        (
            replace(public, spec=spec),
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

    assert text_report.render_plan(plan) == (
        "HOST    OBJECT          TUNNEL        ACCESS        BACKENDS\n"
        "a.org   prod/pic-a.org  tunnels/home  public        /api → http://web:80\n"
        "                                                    / → https://web:8443\n"
        "b.org   prod/pic-b.org                login (held)  / → http://web:80\n"
        "c.org   prod/pic-c.org  home          blocked       / → http://web:80\n"
        "\n"
        "HOST    ADDRESS\n"
        "a.org   10.0.0.1\n"
        "\n"
        "Normal: BlockAccess: Ingress prod/web: c.org: it blocks\n"
        "Warning: EmptyHost: Ingress prod/web: no host\n"
        "Warning: SettingDiffers: Setting domains: it differs\n"
        "\n"
        "3 resources, 1 of them held, 1 DNS record, 2 warnings, 1 remark"
    )


def test_no_changes_are_one_line() -> None:
    assert text_report.render_changes(Changes("s", "c")) == "No changes."


def test_changes_start_with_the_dangerous_ones() -> None:
    long = tuple(FieldChange(f"spec.f{number}", number, number + 1) for number in range(8))
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
        weakened=(Weakening("b.org", "sso"), Weakening("c.org", "blockAccess")),
    )

    assert text_report.render_changes(changes) == (
        "- gone.org (prod/pic-gone.org) is no longer declared\n"
        "- m.org moves from prod/pic-m.org to team/pic-m.org\n"
        "! b.org no longer requires login (sso)\n"
        "! c.org no longer blocks access (blockAccess)\n"
        "+ new.org (prod/pic-new.org) is created, access: public\n"
        "+ safe.org (prod/pic-safe.org) is created, access: login\n"
        "~ b.org: spec.name: (absent) → b.org\n"
        "~ c.org: spec.f0: 0 → 1; spec.f1: 1 → 2; spec.f2: 2 → 3; spec.f3: 3 → 4;"
        " spec.f4: 4 → 5; spec.f5: 5 → 6; and 2 more fields"
    )


def test_a_host_that_is_no_longer_protected_becomes_public() -> None:
    current = replace(live("a.org"), spec=Spec(http=HttpConfig(sso=True)))
    field = FieldChange("spec.httpConfig.sso", old=True, new=False)
    changes = Changes("s", "c", updated=(Update(resource("a.org"), current, (field,)),))

    assert text_report.render_changes(changes) == (
        "! a.org becomes public (was: login)\n~ a.org: spec.httpConfig.sso: true → false"
    )


def test_values_of_fields_are_one_line_without_control_characters() -> None:
    field = FieldChange("spec.name", "a\x1b[2J\nb", ["c", None])
    changes = Changes("s", "c", updated=(Update(resource("a.org"), live("a.org"), (field,)),))

    assert text_report.render_changes(changes) == (
        '~ a.org: spec.name: a\\u001b[2J\\u000ab → ["c", null]'
    )


def test_one_field_above_the_limit_is_counted_in_the_singular() -> None:
    fields = tuple(FieldChange(f"spec.f{number}", 0, 1) for number in range(7))
    changes = Changes("s", "c", updated=(Update(resource("a.org"), live("a.org"), fields),))

    assert text_report.render_changes(changes).endswith("; and 1 more field")


def test_a_review_starts_with_its_counts_and_ends_with_its_digest() -> None:
    notice = Notice(Reason.NO_RULES, Ref("Ingress", "prod", "web"), "no \x1b[2J rules")
    changes = Changes("s", "c", live_count=1, removed=(live("a.org"),))

    assert text_report.render_review(
        build(StackRef("pic", "prod"), Plan(notices=(notice,)), changes)
    ) == (
        "1 host no longer declared, 1 warning (1 live, 0 planned)\n"
        "\n"
        "- a.org (prod/pic-a.org) is no longer declared\n"
        "\n"
        "Warning: NoRules: Ingress prod/web: no \\u001b[2J rules\n"
        "\n"
        f"digest {changes.digest} · cluster c"
    )


def refused(*refusals: Refusal, acknowledgement: str = "") -> list[str]:
    changes = Changes("s", "")
    review = build(
        StackRef("pic", "prod"),
        Plan(),
        changes,
        refusals=refusals,
        acknowledgement=acknowledgement,
    )
    text = text_report.render_review(review)
    return text.replace(changes.digest, "DIGEST").splitlines()[2:-4]


def test_a_refused_review_says_why_and_how_to_acknowledge_it() -> None:
    assert refused(Refusal("too many"), Refusal("too weak"), acknowledgement="abc") == [
        "The guard refuses these changes (digest DIGEST):",
        "- too many",
        "- too weak",
        "The acknowledgement 'abc' is for other changes.",
        "If this is intended, acknowledge exactly these changes: set PIC_ACKNOWLEDGE=DIGEST in the"
        " environment of this check, and deploy with: pic up --stack prod --acknowledge DIGEST",
    ]


def test_a_refused_review_that_cannot_be_acknowledged_offers_no_command() -> None:
    assert refused(Refusal("wrong cluster", acknowledgeable=False)) == [
        "The guard refuses these changes (digest DIGEST):",
        "- wrong cluster",
    ]


def test_text_markdown_and_html_agree_on_a_held_host_that_is_off() -> None:
    planned = resource("a.org", held=True)
    off = replace(planned, spec=replace(planned.spec, enabled=False))
    plan = Plan((off,))
    review = build(StackRef("pic", "prod"), plan, Changes("s", "c", created=(off,)))

    assert "a.org   prod/pic-a.org  home      off (held)  /" in text_report.render_plan(plan)
    assert "a.org (prod/pic-a.org) is created, access: off (held)" in (
        text_report.render_review(review)
    )
    for text in (markdown.render_plan(plan), markdown.render_review(review)):
        assert "| `a.org` | `prod/pic-a.org` | `home` | off (held) |" in text
    assert "<td>off (held)</td>" in html.render_review(review)
    for render in (text_report.render_review, markdown.render_review, html.render_review):
        assert "public" not in render(review)
