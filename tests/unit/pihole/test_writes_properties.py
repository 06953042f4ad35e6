"""Whatever the list and the edits are, every name resolves after each single request."""

from collections.abc import Iterator, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from pic.core.model import Family
from pic.pihole.hosts_lines import lost_lines, merge, rules_for
from pic.pihole.lines import is_ours, parse, shared_line
from pic.pihole.protocol import RecordEdit
from pic.pihole.requests import ReplaceList, next_write

RULES = rules_for("2f0c1b9a-7a53", "0123456789abcdef")
OLD = RULES.legacy or ""
ADDRESSES = ("192.0.2.1", "192.0.2.2", "192.0.2.3")
HOSTS = tuple("abcdef")
# Of this size, a list fits as it is, fits only with shared lines, or does not fit at all.
SIZES = (0, 64_780, 64_900, 70_000)

addresses, names = st.sampled_from(ADDRESSES), st.sampled_from(HOSTS)
own_lines = st.builds(
    lambda ip, hosts: shared_line(ip, sorted(hosts), RULES.marker),
    addresses,
    st.sets(names, min_size=1, max_size=4),
)
old_lines = st.builds(lambda ip, host: f"{ip} {host} # {OLD}", addresses, names)
foreign_lines = st.builds(lambda ip, host: f"{ip} {host}.lan # mine", addresses, names)
edits = st.dictionaries(names, st.none() | addresses, min_size=1).map(
    lambda wanted: [RecordEdit(host, Family.A, ip, legacy=True) for host, ip in wanted.items()]
)


def resolved(lines: Sequence[str]) -> dict[str, set[str]]:
    answers: dict[str, set[str]] = {}
    for text in lines:
        if line := parse(text):
            for name in line.names:
                answers.setdefault(name, set()).add(line.ip)
    return answers


def after_each_request(lines: tuple[str, ...], wanted: list[RecordEdit]) -> Iterator[list[str]]:
    """Yield the list after each request, until nothing differs."""
    current = list(lines)
    for _ in range(3):
        merged = merge(current, wanted, RULES)
        assert not merged.refusals
        if list(merged.lines) == current:
            return
        write = next_write(current, merged.changes, RULES.marker)
        if isinstance(write, ReplaceList):
            current = list(write.lines)
            yield current
            continue
        for put in write.puts:
            current = [*current, put.text] if put.text not in current else current
            yield current
        for text, _ in write.deletes:
            current = list(current)
            current.remove(text)
            yield current
    raise AssertionError("the list never has what was wanted")


@settings(max_examples=300, deadline=None)
@given(st.lists(own_lines | old_lines | foreign_lines, max_size=8), edits, st.sampled_from(SIZES))
def test_no_request_leaves_a_name_without_an_address(
    lines: list[str], wanted: list[RecordEdit], size: int
) -> None:
    padding = [f"192.0.2.9 padding # {'x' * size}"] if size else []
    before = tuple(dict.fromkeys([*padding, *lines]))
    going = {edit.host for edit in wanted if edit.ip is None}
    staying = resolved(before).keys() - going

    after = before
    for current in after_each_request(before, wanted):
        assert staying <= resolved(current).keys()
        after = tuple(current)

    answers = resolved([text for text in after if is_ours(text, RULES.marker)])
    assert all(answers.get(edit.host, set()) == {edit.ip} - {None} for edit in wanted)
    # Nothing of others is lost: neither a line by hand nor an old one that no edit is about.
    touched = {f"{ip} {edit.host} # {OLD}" for edit in wanted for ip in ADDRESSES}
    assert set(lost_lines(before, after, RULES.marker)) <= touched
