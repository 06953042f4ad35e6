"""The local DNS records of Pi-hole v6: `dns.hosts` of its configuration.

Read, merge, write what differs, and begin again until nothing differs: so the read that follows a
write is what verifies it.
"""

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from pic.core.errors import FailureClass, PiholeError
from pic.core.json_values import MalformedError, Raw, mapping
from pic.core.model import LiveRecord
from pic.pihole import answers, hosts_lines, requests
from pic.pihole.hosts_lines import Merged, Rules
from pic.pihole.http import Response
from pic.pihole.protocol import RecordEdit
from pic.pihole.requests import EditLines, ReplaceList
from pic.pihole.v6_session import Session

HOSTS = "/api/config/dns/hosts"
WRITES = 4  # one for the whole list, one for what has no room in it, two for what others undo

Failures = dict[RecordEdit, PiholeError]


class V6:
    """The records, within a session that somebody else begins and ends."""

    def __init__(self, session: Session, rules: Rules) -> None:
        self._session = session
        self._rules = rules
        self._may_write = False

    def read(self) -> tuple[LiveRecord, ...]:
        """Return every record, as `Hosts` says."""
        return hosts_lines.records(self._lines(), self._rules.marker)

    def apply(self, edits: Sequence[RecordEdit]) -> Mapping[RecordEdit, PiholeError]:
        """Bring edits about, as `Hosts` says."""
        failed: Failures = {}
        sent: Sequence[str] = ()
        written = 0
        while True:
            found = self._lines()
            lost = hosts_lines.lost(sent, found, self._rules.marker)
            merged = self._merged((*found, *lost), edits, failed)
            if merged.lines == tuple(found):
                return failed
            if written == WRITES:
                return failed | _overrun(merged, lost)
            self._check_rights()
            planned = requests.restoring(merged) if lost else requests.step(found, merged.changes)
            sent, refused = self._write(found, planned)
            failed |= refused
            # Each refusal makes the next attempt shorter, so only others are counted.
            written += not refused

    def _merged(
        self, found: Sequence[str], edits: Sequence[RecordEdit], failed: Failures
    ) -> Merged:
        merged = hosts_lines.merged(
            found, [each for each in edits if each not in failed], self._rules
        )
        failed |= merged.refusals
        return merged

    def _lines(self) -> tuple[str, ...]:
        found = value(self._session.get(HOSTS, "reading its records"), "dns", "hosts")
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            raise PiholeError(
                "Pi-hole shows its local DNS records in a form that pic does not know: dns.hosts is"
                " no list of text",
                kind=FailureClass.INVALID,
            )
        return tuple(found)

    def _check_rights(self) -> None:
        if not self._may_write:
            check_rights(self._session)
            self._may_write = True

    def _write(
        self, found: Sequence[str], planned: ReplaceList | EditLines
    ) -> tuple[Sequence[str], Failures]:
        """Write one step; return what was sent as a whole, and the edits that are refused."""
        if isinstance(planned, ReplaceList):
            return self._write_whole(planned)
        return (), self._write_singly(found, planned)

    def _write_whole(self, whole: ReplaceList) -> tuple[Sequence[str], Failures]:
        answer = self._session.ask("PATCH", HOSTS, requests.body(whole.lines))
        if answer.status < 300:
            return whole.lines, {}
        at = answers.position(answer)
        text = whole.lines[at] if at is not None and at < len(whole.lines) else None
        if text is None:
            raise answers.refusal(answer, "writing its records")
        change = whole.by_line.get(text)
        if change is None:
            raise self._blocked(text, answer)
        return (), {change.edit: _refused(text, answer)}

    def _write_singly(self, found: Sequence[str], singly: EditLines) -> Failures:
        failed = dict(singly.refusals)
        there = list(found)
        for change in singly.changes:
            error = self._put(change.put, there) if change.put is not None else None
            if error is not None:
                failed[change.edit] = error
                continue
            for at in change.gone:
                self._delete(found[at], there)
        return failed

    def _put(self, text: str, there: list[str]) -> PiholeError | None:
        """Add a line; return why Pi-hole does not want this one."""
        answer = self._session.ask("PUT", f"{HOSTS}/{quote(text, safe='')}")
        if answer.status < 300:
            there.append(text)
        elif answers.error_message(answer) != "Item already present":
            self._check_blocked(answer, there)
            error = answers.refusal(answer, f"writing {text!r}")
            if error.kind is not FailureClass.INVALID or answers.position(answer) is None:
                raise error
            return _refused(text, answer)
        return None

    def _delete(self, text: str, there: list[str]) -> None:
        answer = self._session.ask("DELETE", f"{HOSTS}/{quote(text, safe='')}")
        if answer.status not in (204, 404):
            self._check_blocked(answer, there)
            raise answers.refusal(answer, f"deleting {text!r}")
        there.remove(text)

    def _check_blocked(self, answer: Response, there: Sequence[str]) -> None:
        """Pi-hole checks every line at each write, so a bad one of somebody else stops all."""
        at = answers.position(answer)
        if at is not None and at < len(there):
            raise self._blocked(there[at], answer)

    def _blocked(self, text: str, answer: Response) -> PiholeError:
        whose = "pic's" if hosts_lines.is_ours(text, self._rules.marker) else "somebody else's"
        return PiholeError(
            f"Pi-hole refuses every change of its local DNS records, because of a line of them that"
            f" is {whose}: {text!r}: {answers.complaint(answer)}. Correct or remove it in"
            " pihole.toml or the web interface",
            kind=FailureClass.INVALID,
        )


def check_rights(session: Session) -> None:
    """Look for what Pi-hole would refuse to write, or accept and then lose.

    Raises:
        PiholeError: There is such a thing, or it could not be looked at.
    """
    detail = session.get(f"{HOSTS}?detailed=true", "reading its configuration")
    if value(detail, "dns", "hosts", "flags", "env_var") is True:
        raise PiholeError(answers.ENVIRONMENT, kind=FailureClass.INVALID)
    misc = session.get("/api/config/misc/readOnly", "reading its configuration")
    if value(misc, "misc", "readOnly") is True:
        raise PiholeError(answers.READ_ONLY, kind=FailureClass.AUTH)


def value(answer: Raw, *path: str) -> object:
    """Return a value of Pi-hole's configuration, None where the answer has none at that path."""
    found: object = answer.get("config")
    try:
        for key in path:
            found = mapping(found, key).get(key)
    except MalformedError:
        return None
    return found


def _refused(text: str, answer: Response) -> PiholeError:
    return PiholeError(
        f"Pi-hole refuses {text!r}: {answers.complaint(answer)}", kind=FailureClass.INVALID
    )


def _overrun(merged: Merged, lost: Sequence[str]) -> Failures:
    """Say which edits others have undone each time.

    Raises:
        PiholeError: It is the lines of others that are gone.
    """
    if lost:
        raise PiholeError(
            "Pi-hole lost lines that are not pic's while pic wrote, and does not take them back:"
            f" {', '.join(map(repr, lost))}. Somebody else writes its records too: let only one"
            " program do so"
        )
    error = PiholeError(
        f"Pi-hole does not keep what pic writes, {WRITES} times: somebody else writes its local DNS"
        " records at the same time. Let only one program do so"
    )
    return {change.edit: error for change in merged.changes}
