"""Tests that a pull request cannot break the Markdown, and that it fits into a comment."""

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from pic.core.model import LiveResource, Plan, Resource, Spec
from pic.core.notices import Notice, Reason, Ref
from pic.core.visible import visible
from pic.planning.changes import Changes, FieldChange, Update
from pic.planning.guard import Refusal
from pic.report import markdown
from pic.report.review import Review, StackRef, build

PROD = StackRef("pic", "prod")
NONE = Changes("pic.prod", "cluster-1")
WEB = Ref("Ingress", "prod", "web")
# Every kind of markup in a comment.
EVIL = ("|", "`", "``", "\\", "\\|", "<!--", "-->", "<img src=x onerror=alert(1)>", "</code>")
MORE = ("@team", "#12", "**", "_", "[x](http://x)", "\n", "\r\n\r\n", "# ", "> ", "&amp;", "&#96;")
hostile = st.lists(st.sampled_from([*EVIL, *MORE, "a", " ", "é", "\u202e", "\x00"])).map("".join)


def parsed(text: str) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(text)


def code_in(tokens: list[Token]) -> str:
    """Return the text of a cell that contains one piece of code and nothing else."""
    if [token.type for token in tokens] == ["code_inline"]:
        return tokens[0].content
    first, *inside, last = tokens
    assert (first.content, last.content) == ("<code>", "</code>")
    shown = [token for token in inside if token.type != "html_inline"]
    assert {token.type for token in shown} <= {"text", "text_special"}
    return "".join(token.content for token in shown)


def reviewed(*messages: str, refusals: Sequence[Refusal] = ()) -> Review:
    notices = tuple(Notice(Reason.NO_RULES, WEB, message) for message in messages)
    return build(PROD, Plan(notices=notices), NONE, refusals=refusals)


@given(hostile.filter(bool))
def test_any_text_is_one_cell_of_code(text: str) -> None:
    tokens = parsed(f"| a | b |\n|---|---|\n| {markdown.code(text, 10**6)} | end |\n")

    cells = [token.children for token in tokens if token.type == "inline"][2:]
    assert len(cells) == 2
    assert code_in(cells[0] or []) == visible(text)
    assert [token.content for token in cells[1] or []] == ["end"]


@given(st.lists(hostile, max_size=3), hostile)
def test_notices_and_refusals_cannot_change_the_outline(messages: list[str], reason: str) -> None:
    tame = [f"message {number}" for number, _ in enumerate(dict.fromkeys(messages))]
    text = markdown.render_review(reviewed(*messages, refusals=[Refusal(reason)]))
    plain = markdown.render_review(reviewed(*tame, refusals=[Refusal("x")]))

    def outline(text: str) -> list[str]:
        return [token.type for token in parsed(text)]

    rows = [line for line in text.splitlines() if line.startswith("| Warning")]
    assert len(rows) == len(messages)
    if len(tame) == len(messages):
        assert outline(text) == outline(plain)


def test_names_and_mentions_are_in_code() -> None:
    assert markdown.code("app.example.com") == "`app.example.com`"
    assert markdown.code("@team <b>") == "`@team <b>`"
    assert markdown.code("a`@b") == "<code>a&#96;<span>&#64;</span>b</code>"
    assert markdown.code(" a|b") == "<code> a&#124;b</code>"
    assert markdown.code("") == markdown.ABSENT


def test_a_long_text_is_cut_and_followed_by_its_length() -> None:
    assert markdown.code("x" * 401) == f"`{'x' * 400}… (401 characters)`"
    assert markdown.code("x" * 400) == f"`{'x' * 400}`"


def test_a_review_without_changes_is_one_line() -> None:
    assert markdown.render_review(reviewed()) == (
        "<!-- pic:review:pic.prod -->\n"
        "### Changes to stack `prod`\n"
        "\n"
        "**no changes (0 live, 0 planned)**\n"
        "\n"
        f"`digest {NONE.digest} · cluster cluster-1`\n"
    )


def test_a_refusal_that_cannot_be_acknowledged_says_so() -> None:
    refusal = Refusal("This is cluster X.", acknowledgeable=False)

    text = markdown.render_review(reviewed(refusals=[refusal]))

    assert text.splitlines()[1:10] == [
        "### Changes to stack `prod`: refused",
        "",
        "**no changes (0 live, 0 planned)**",
        "",
        "> [!CAUTION]",
        f"> The guard refuses these changes (digest `{NONE.digest}`):",
        ">",
        "> - `This is cluster X.`",
        ">",
    ]
    assert "> An acknowledgement does not help here.\n" in text


def resource(number: int) -> Resource:
    host = f"h{number}.example.com"
    return Resource(host, "prod", f"pic-{host}", (), {}, Spec())


def large(count: int) -> Review:
    """Return a review with that many removed, new and changed hosts, and as many notices."""
    resources = [resource(number) for number in range(count)]
    live = [LiveResource("prod", planned.name, "uid", planned.host) for planned in resources]
    field = FieldChange("spec.name", "old", "new")
    changes = replace(
        NONE,
        removed=tuple(live),
        created=tuple(resources),
        updated=tuple(Update(*both, (field,)) for both in zip(resources, live, strict=True)),
    )
    notices = tuple(Notice(Reason.NO_RULES, WEB, f"message {number} |") for number in range(count))
    return build(PROD, Plan(notices=notices), changes)


def test_a_text_that_fits_is_not_trimmed() -> None:
    text = markdown.render_review(large(100))

    assert len(text) < markdown.LIMIT
    assert "not shown" not in text


@pytest.mark.parametrize("count", [250, 300, 500, 1000, 5000])
def test_a_text_that_does_not_fit_loses_its_least_important_rows_and_says_so(count: int) -> None:
    text = markdown.render_review(large(count))
    rows = [line for line in text.splitlines() if re.match(r"\| (`h|Warning)", line)]
    hidden = [
        int(number.replace(",", ""))
        for number in re.findall(r"_([\d,]+) of [\d,]+ rows are not shown", text)
    ]
    left, total = re.findall(r"\*\*Trimmed: ([\d,]+) of ([\d,]+) rows are not shown", text)[0]

    assert markdown.LIMIT - 2000 < len(text) < markdown.LIMIT
    assert int(total.replace(",", "")) == 5 * count
    assert int(left.replace(",", "")) == sum(hidden) == 5 * count - len(rows)
    assert [line for line in text.splitlines() if line.startswith("####")] == [
        f"#### {title} ({count:,})"
        for title in (
            "Hosts that become public",
            "Hosts no longer declared",
            "New hosts",
            "Changed fields",
            "Notices",
        )
    ]


def test_a_trimmed_text_says_at_its_top_that_it_is_trimmed() -> None:
    lines = markdown.render_review(large(1000)).splitlines()

    assert lines[3:10] == [
        "**1,000 hosts become public, 1,000 hosts no longer declared, 1,000 new hosts, 1,000 hosts"
        " changed, 1,000 warnings (0 live, 0 planned)**",
        "",
        "**Trimmed: 3,431 of 5,000 rows are not shown, the least important ones of each"
        " namespace.** `--output html` and `--output json` show all rows.",
        "",
        "#### Hosts that become public (1,000)",
        "",
        "| Host | Access before | Backends |",
    ]
    assert (
        lines[-15:]
        == [
            "",
            "_431 of 1,000 rows are not shown._",
            *(
                line
                for title in ("New hosts", "Changed fields", "Notices")
                for line in (
                    "",
                    f"#### {title} (1,000)",
                    "",
                    "_1,000 of 1,000 rows are not shown._",
                )
            ),
            "",
            f"`digest {large(1000).changes.digest} · cluster cluster-1`",
        ][1:]
    )


def test_characters_that_count_twice_in_utf_16_fit_as_well() -> None:
    messages = [f"{'😀' * 300} {number}" for number in range(500)]

    text = markdown.render_review(reviewed(*messages))

    assert len(text.encode("utf-16-le")) // 2 < markdown.LIMIT


@pytest.mark.parametrize("word", ["x", "`", "@`", "😀|"])
def test_the_longest_refusals_fit(word: str) -> None:
    long = word * 100_000
    review = large(1000)
    changes = replace(review.changes, cluster_id=long)
    refusals = (Refusal(long),) * 5

    text = markdown.render_review(
        replace(review, changes=changes, refusals=refusals, stale_acknowledgement=long)
    )

    assert len(text.encode("utf-16-le")) // 2 < markdown.LIMIT


def test_a_plan_starts_with_its_counts() -> None:
    plan = Plan((resource(1),), notices=(Notice(Reason.NO_RULES, WEB, "no rules"),))

    assert markdown.render_plan(plan) == (
        "### Plan\n"
        "\n"
        "**1 resource, 1 warning, 0 remarks**\n"
        "\n"
        "#### Resources (1)\n"
        "\n"
        "| Host | Object | Tunnel | Access | Backends |\n"
        "| --- | --- | --- | --- | --- |\n"
        "| `h1.example.com` | `prod/pic-h1.example.com` | — | public | — |\n"
        "\n"
        "#### Notices (1)\n"
        "\n"
        "| Level | Reason | Object | Message |\n"
        "| --- | --- | --- | --- |\n"
        "| Warning | NoRules | `Ingress prod/web` | `no rules` |\n"
    )
