"""Reads and writes the local DNS records of Pi-hole v6: `dns.hosts` of its configuration.

Pi-hole has no conditional writes: another program can overwrite what pic writes, and the other way
round. So a write repeats three steps until nothing differs: read, merge, write what differs. The
read of each round verifies the write before it.
"""

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from pic.core.errors import FailureClass, PiholeError
from pic.core.json_values import MalformedError, Raw, mapping
from pic.core.model import LiveRecord
from pic.pihole import answers, hosts_lines, requests, shadows
from pic.pihole.hosts_lines import Change, Merged, Rules
from pic.pihole.http import Response
from pic.pihole.lines import is_ours
from pic.pihole.protocol import RecordEdit
from pic.pihole.requests import EditLines, Put, ReplaceList
from pic.pihole.v6_session import Session

HOSTS_PATH = "/api/config/dns/hosts"
# One for the whole list, one for what does not fit into it, and two to repeat what another program
# undoes.
MAX_WRITES = 4

Failures = dict[RecordEdit, PiholeError]


class V6:
    """Implements `Hosts` for version 6, within a session that the caller opens and closes."""

    def __init__(self, session: Session, rules: Rules) -> None:
        self._session = session
        self._rules = rules
        self._may_write = False

    def read(self) -> tuple[LiveRecord, ...]:
        """Return every record, as `Hosts.read` does."""
        return hosts_lines.records(self.lines(), self._rules)

    def shadows(self) -> Mapping[str, str]:
        """Return what other settings answer, as `Hosts.shadows` does."""
        return shadows.shadows(
            self._texts("dns", "cnameRecords"), self._texts("misc", "dnsmasq_lines")
        )

    def _texts(self, *path: str) -> list[str]:
        """Return a list of the configuration; empty if Pi-hole does not show it."""
        answer = self._session.request("GET", f"/api/config/{'/'.join(path)}")
        value = config_value(answer.data, *path) if answer.status == 200 else None
        return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []

    def apply(self, edits: Sequence[RecordEdit]) -> Mapping[RecordEdit, PiholeError]:
        """Apply edits, as `Hosts.apply` does."""
        failures: Failures = {}
        sent: Sequence[str] = ()
        writes = 0
        while True:
            live = self.lines()
            # The last write may have overwritten a line of another program, or the other way round.
            lost = hosts_lines.lost_lines(sent, live, self._rules.marker)
            merged = self._merge((*live, *lost), edits, failures)
            if merged.lines == live:
                return failures
            if writes == MAX_WRITES:
                return failures | _overrun(merged, lost)
            self._check_rights()
            marker = self._rules.marker
            write = (
                requests.restore(merged, marker)
                if lost
                else requests.next_write(live, merged.changes, marker)
            )
            sent, refusals = self._write(live, write)
            failures |= refusals
            # Each refusal leaves one edit out of the next round, so refusals need no limit.
            if not refusals:
                writes += 1

    def _merge(
        self, lines: Sequence[str], edits: Sequence[RecordEdit], failures: Failures
    ) -> Merged:
        pending = [edit for edit in edits if edit not in failures]
        merged = hosts_lines.merge(lines, pending, self._rules)
        failures |= merged.refusals
        return merged

    def lines(self) -> tuple[str, ...]:
        """Return the lines of the list, unchanged.

        Raises:
            PiholeError: Pi-hole did not return them.
        """
        lines = config_value(self._session.get(HOSTS_PATH, "reading its records"), "dns", "hosts")
        if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
            raise PiholeError(
                "Pi-hole returned its local DNS records in a form that pic does not know: dns.hosts"
                " is not a list of text",
                kind=FailureClass.INVALID,
            )
        return tuple(lines)

    def _check_rights(self) -> None:
        if not self._may_write:
            check_rights(self._session)
            self._may_write = True

    def _write(
        self, live: Sequence[str], write: ReplaceList | EditLines
    ) -> tuple[Sequence[str], Failures]:
        """Write once; return the list that was sent, if any, and the refused edits."""
        if isinstance(write, ReplaceList):
            return self._replace_list(write)
        return (), self._edit_lines(live, write)

    def _replace_list(self, write: ReplaceList) -> tuple[Sequence[str], Failures]:
        answer = self._session.request("PATCH", HOSTS_PATH, requests.list_body(write.lines))
        if answer.status < 300:
            return write.lines, {}
        # Pi-hole refuses the whole list because of one line. If pic added that line, the next round
        # leaves its edit out. Any other line blocks every write.
        index = answers.position(answer)
        text = write.lines[index] if index is not None and index < len(write.lines) else None
        if text is None:
            raise answers.refusal(answer, "writing its records")
        changes = write.by_line.get(text)
        if changes is None:
            raise self._blocked(text, answer)
        return (), {change.edit: _refusal(text, answer) for change in _blamed(changes, answer)}

    def _edit_lines(self, live: Sequence[str], write: EditLines) -> Failures:
        failures = dict(write.refusals)
        # A copy of Pi-hole's list after each request: Pi-hole names a bad line by its position.
        current = list(live)
        # First the new lines: the other order leaves a name without an address for a moment.
        for put in write.puts:
            failures |= self._put_names(put, current)
        for text, changes in write.deletes:
            if not any(change.edit in failures for change in changes):
                self._delete(text, current)
        return failures

    def _put_names(self, put: Put, current: list[str]) -> Failures:
        """Add a line; if Pi-hole refuses a shared line, add each of its names alone."""
        error = self._put(put.text, current)
        if error is None:
            return {}
        if len(put.changes) < 2:
            return {change.edit: error for change in put.changes}
        failures: Failures = {}
        for change in put.changes:
            failures |= self._put_names(Put(change.put or "", (change,)), current)
        return failures

    def _put(self, text: str, current: list[str]) -> PiholeError | None:
        """Add a line; return the error if Pi-hole refuses this line."""
        answer = self._session.request("PUT", f"{HOSTS_PATH}/{quote(text, safe='')}")
        if answer.status < 300:
            current.append(text)
        # An earlier write without an answer may have added this line, byte for byte.
        elif answers.error_message(answer) != "Item already present":
            self._check_blocked(answer, current)
            error = answers.refusal(answer, f"writing {text!r}")
            if error.kind is not FailureClass.INVALID or answers.position(answer) is None:
                raise error
            return _refusal(text, answer)
        return None

    def _delete(self, text: str, current: list[str]) -> None:
        answer = self._session.request("DELETE", f"{HOSTS_PATH}/{quote(text, safe='')}")
        # 404 means that the line does not exist any more.
        if answer.status not in (204, 404):
            self._check_blocked(answer, current)
            raise answers.refusal(answer, f"deleting {text!r}")
        # Of equal lines, Pi-hole removes the first one as well.
        current.remove(text)

    def _check_blocked(self, answer: Response, current: Sequence[str]) -> None:
        """Raise if the refusal is about another line: Pi-hole validates all lines at each write."""
        # The position of a new line is the length of the list.
        index = answers.position(answer)
        if index is not None and index < len(current):
            raise self._blocked(current[index], answer)

    def _blocked(self, text: str, answer: Response) -> PiholeError:
        ours = is_ours(text, self._rules.marker) or self._rules.is_legacy(text)
        owner = "that pic wrote" if ours else "of another owner"
        return PiholeError(
            f"Pi-hole refuses every change of its local DNS records because of a line {owner}:"
            f" {text!r}: {answers.complaint(answer)}. Correct or remove the line in pihole.toml or"
            " in the web interface",
            kind=FailureClass.INVALID,
        )


def check_rights(session: Session) -> None:
    """Check for settings that make Pi-hole refuse a write, or accept it and lose it later.

    Raises:
        PiholeError: There is such a setting, or Pi-hole did not return its configuration.
    """
    # With misc.readOnly, Pi-hole answers PUT and DELETE with success and forgets them at its next
    # start. So the answer to a write does not show the problem.
    detail = session.get(f"{HOSTS_PATH}?detailed=true", "reading its configuration")
    if config_value(detail, "dns", "hosts", "flags", "env_var") is True:
        raise PiholeError(answers.ENVIRONMENT, kind=FailureClass.INVALID)
    path = ("misc", "readOnly")
    misc = session.get(f"/api/config/{'/'.join(path)}?detailed=true", "reading its configuration")
    if config_value(misc, *path, "value") is True:
        fixed = config_value(misc, *path, "flags", "env_var") is True
        message = answers.READ_ONLY_BY_VARIABLE if fixed else answers.READ_ONLY
        raise PiholeError(message, kind=FailureClass.AUTH)


def config_value(answer: Raw, *path: str) -> object:
    """Return a value of Pi-hole's configuration; None if the answer has no such path."""
    # Pi-hole answers a path that it does not have with an empty object and status 200.
    value: object = answer.get("config")
    try:
        for key in path:
            value = mapping(value, key).get(key)
    except MalformedError:
        return None
    return value


def _blamed(changes: Sequence[Change], answer: Response) -> Sequence[Change]:
    """Return the changes that a refusal of a shared line is about: all, if it names no host."""
    complaint = answers.complaint(answer)
    named = [change for change in changes if f'"{change.edit.host}"' in complaint]
    return named or changes


def _refusal(text: str, answer: Response) -> PiholeError:
    return PiholeError(
        f"Pi-hole refuses {text!r}: {answers.complaint(answer)}", kind=FailureClass.INVALID
    )


def _overrun(merged: Merged, lost: Sequence[str]) -> Failures:
    """Return an error for each edit that another program has undone every time.

    Raises:
        PiholeError: Pi-hole has lost foreign lines instead.
    """
    if lost:
        raise PiholeError(
            "Pi-hole lost foreign lines while pic wrote, and does not accept them again:"
            f" {', '.join(map(repr, lost))}. Another program writes its records too: let only one"
            " program do so"
        )
    error = PiholeError(
        f"Pi-hole did not keep what pic wrote {MAX_WRITES} times: another program writes its local"
        " DNS records at the same time. Let only one program do so"
    )
    return {change.edit: error for change in merged.changes}
