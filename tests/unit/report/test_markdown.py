"""Markdown that a pull request cannot break, and that fits in a comment."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from pic.core.model import (
    LiveResource,
    Plan,
    Resource,
    Spec,
)
from pic.core.notices import Notice, Reason, Ref
from pic.core.visible import visible
from pic.planning.changes import Changes, FieldChange, Update
from pic.report import markdown
from pic.report.review import (
    Refusal,
    Review,
    StackRef,
    build,
)

PROD = StackRef("pic", "prod")
NONE = Changes("pic.prod", "cluster-1")
WEB = Ref("Ingress", "prod", "web")
# Markup of every kind that a comment knows, between words.
EVIL = ("|", "`", "``", "\\", "\\|", "<!--", "-->", "<img src=x onerror=alert(1)>", "</code>")
MORE = ("@team", "#12", "**", "_", "[x](http://x)", "\n", "\r\n\r\n", "# ", "> ", "&amp;", "&#96;")
hostile = st.lists(st.sampled_from([*EVIL, *MORE, "a", " ", "é", "\u202e", "\x00"])).map("".join)


def parsed(text: str) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(text)


def code_in(tokens: list[Token]) -> str:
    """What a cell shows that holds one piece of code and nothing else."""
    if [each.type for each in tokens] == ["code_inline"]:
        return tokens[0].content
    first, *inside, last = tokens
    assert (first.content, last.content) == ("<code>", "</code>")
    shown = [each for each in inside if each.type != "html_inline"]
    assert {each.type for each in shown} <= {"text", "text_special"}
    return "".join(each.content for each in shown)


def review(*messages: str, refusal: Refusal | None = None) -> Review:
    notices = tuple(Notice(Reason.NO_RULES, WEB, each) for each in messages)
    return build(PROD, Plan(notices=notices), NONE, refusal=refusal)


@given(hostile.filter(bool))
def test_whatever_a_text_holds_it_is_one_cell_of_code(text: str) -> None:
    tokens = parsed(f"| a | b |\n|---|---|\n| {markdown.code(text, 10**6)} | end |\n")

    cells = [token.children for token in tokens if token.type == "inline"][2:]
    assert len(cells) == 2
    assert code_in(cells[0] or []) == visible(text)
    assert [each.content for each in cells[1] or []] == ["end"]


@given(st.lists(hostile, max_size=3), hostile)
def test_whatever_notices_and_refusals_say_the_outline_is_the_same(
    messages: list[str], reason: str
) -> None:
    tame = [f"message {at}" for at, _ in enumerate(dict.fromkeys(messages))]
    made = markdown.review(review(*messages, refusal=Refusal((reason,), acknowledgeable=True)))
    plain = markdown.review(review(*tame, refusal=Refusal(("x",), acknowledgeable=True)))

    def outline(text: str) -> list[str]:
        return [each.type for each in parsed(text)]

    unique = [each for each in made.splitlines() if each.startswith("| Warning")]
    assert len(unique) == len(messages)
    if len(tame) == len(messages):
        assert outline(made) == outline(plain)


def test_names_and_mentions_are_in_code() -> None:
    assert markdown.code("app.example.com") == "`app.example.com`"
    assert markdown.code("@team <b>") == "`@team <b>`"
    assert markdown.code("a`@b") == "<code>a&#96;<span>&#64;</span>b</code>"
    assert markdown.code(" a|b") == "<code> a&#124;b</code>"
    assert markdown.code("") == markdown.ABSENT


def test_a_long_text_is_cut_and_its_length_told() -> None:
    assert markdown.code("x" * 401) == f"`{'x' * 400}… (401 characters)`"
    assert markdown.code("x" * 400) == f"`{'x' * 400}`"


def test_no_changes_are_a_line() -> None:
    assert markdown.review(review()) == (
        "<!-- pic:review:pic.prod -->\n"
        "### Exposure of `prod`\n"
        "\n"
        "**no changes (0 live, 0 planned)**\n"
        "\n"
        f"`digest {NONE.digest} · cluster cluster-1`\n"
    )


def test_a_refusal_that_nothing_lets_through_says_so() -> None:
    refused = Refusal(("This is cluster X.",), acknowledgeable=False)

    assert markdown.review(review(refusal=refused)).splitlines()[1:10] == [
        "### Exposure of `prod`: refused",
        "",
        "**no changes (0 live, 0 planned)**",
        "",
        "> [!CAUTION]",
        f"> The guard refuses this (digest `{NONE.digest}`):",
        ">",
        "> - `This is cluster X.`",
        ">",
    ]
    assert "> No acknowledgement lets this through.\n" in markdown.review(review(refusal=refused))


def resource(number: int) -> Resource:
    host = f"h{number}.example.com"
    return Resource(host, "prod", f"pic-{host}", (), {}, Spec())


def large(count: int) -> Review:
    """A review with as many removed, new and changed hosts, and as many notices."""
    wanted = [resource(at) for at in range(count)]
    live = [LiveResource("prod", each.name, "uid", each.host) for each in wanted]
    field = FieldChange("spec.name", "old", "new")
    changes = replace(
        NONE,
        removed=tuple(live),
        created=tuple(wanted),
        updated=tuple(Update(*both, (field,)) for both in zip(wanted, live, strict=True)),
    )
    notices = tuple(Notice(Reason.NO_RULES, WEB, f"message {at} |") for at in range(count))
    return build(PROD, Plan(notices=notices), changes)


def test_what_fits_is_whole() -> None:
    text = markdown.review(large(100))

    assert len(text) < markdown.LIMIT
    assert "left out" not in text


@pytest.mark.parametrize("count", [250, 300, 500, 1000, 5000])
def test_what_does_not_fit_is_trimmed_from_the_least_important_and_told(count: int) -> None:
    text = markdown.review(large(count))
    rows = [line for line in text.splitlines() if re.match(r"\| (`h|Warning)", line)]
    told = [int(each.replace(",", "")) for each in re.findall(r"_([\d,]+) of [\d,]+ left", text)]
    left, total = re.findall(r"\*\*Trimmed: ([\d,]+) of ([\d,]+) rows are left out", text)[0]

    assert markdown.LIMIT - 2000 < len(text) < markdown.LIMIT
    assert int(total.replace(",", "")) == 5 * count
    assert int(left.replace(",", "")) == sum(told) == 5 * count - len(rows)
    assert [line for line in text.splitlines() if line.startswith("####")] == [
        f"#### {title} ({count:,})"
        for title in ("Become public", "Removed", "New", "Changed", "Notices")
    ]


def test_a_trimmed_text_begins_with_what_matters_and_says_early_that_it_is_trimmed() -> None:
    lines = markdown.review(large(1000)).splitlines()

    assert lines[3:10] == [
        "**1,000 hosts become public, 1,000 removed, 1,000 new, 1,000 changed, 1,000 warnings"
        " (0 live, 0 planned)**",
        "",
        "**Trimmed: 3,428 of 5,000 rows are left out, the least important first.**"
        " `--output html` and `--output json` have all of them.",
        "",
        "#### Become public (1,000)",
        "",
        "| Host | Before | Backends |",
    ]
    assert (
        lines[-15:]
        == [
            "",
            "_428 of 1,000 left out here._",
            *(
                line
                for title in ("New", "Changed", "Notices")
                for line in ("", f"#### {title} (1,000)", "", "_1,000 of 1,000 left out here._")
            ),
            "",
            f"`digest {large(1000).changes.digest} · cluster cluster-1`",
        ][1:]
    )


def test_hosts_that_others_count_as_two_characters_each_fit_as_well() -> None:
    text = markdown.review(review(*(f"{'😀' * 300} {at}" for at in range(500))))

    assert len(text.encode("utf-16-le")) // 2 < markdown.LIMIT


@pytest.mark.parametrize("word", ["x", "`", "@`", "😀|"])
def test_the_longest_refusals_fit(word: str) -> None:
    long = word * 100_000
    made = large(1000)
    changes = replace(made.changes, cluster_id=long)
    refusal = Refusal((long,) * 5, acknowledgeable=True, stale=long)

    text = markdown.review(replace(made, changes=changes, refusal=refusal))

    assert len(text.encode("utf-16-le")) // 2 < markdown.LIMIT


def test_a_plan_begins_with_its_counts() -> None:
    plan = Plan((resource(1),), notices=(Notice(Reason.NO_RULES, WEB, "no rules"),))

    assert markdown.plan(plan) == (
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
