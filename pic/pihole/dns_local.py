"""The other interface: single records below `/admin/api/dns/local`, with a bearer token.

It has no room for a marker, so what is ours is told by names, and nothing is deleted that is not
asked for by its name. Deleting takes a name with all its addresses.
"""

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from pic.core.errors import FailureClass, PiholeError
from pic.core.model import Family, LiveRecord
from pic.pihole import hosts_lines
from pic.pihole.hosts_lines import Rules
from pic.pihole.http import Client, Response
from pic.pihole.protocol import RecordEdit
from pic.planning import hosts

LOCAL = "/admin/api/dns/local"
WAIT = 60  # seconds
ROUNDS = 3  # the second one replaces what the first one could not change, the third one repeats it

_ANOTHER = "; no released Pi-hole has the interface dns-local: is pic:piholeApi to be v6?"

Addresses = dict[str, set[str]]
Failures = dict[RecordEdit, PiholeError]


class DnsLocal:
    """The records behind a token; there is no session to begin or end."""

    def __init__(
        self, client: Client, token: str, owned: frozenset[str], *, take_over: bool = False
    ) -> None:
        """Prepare; nothing is sent.

        Args:
            client: Where.
            token: Printable ASCII.
            owned: The hosts whose records are ours.
            take_over: Records of others get our address.
        """
        self._client = client
        self._headers = {"Authorization": f"Bearer {token}"}
        self._owned = owned
        self._rules = Rules("", take_over)

    def read(self) -> tuple[LiveRecord, ...]:
        """Return every record, as `Hosts` says."""
        found = [
            LiveRecord(host, ip, host in self._owned)
            for host, addresses in self._addresses().items()
            for ip in addresses
        ]
        return tuple(sorted(found, key=lambda each: (*each.key, each.ip)))

    def apply(self, edits: Sequence[RecordEdit]) -> Mapping[RecordEdit, PiholeError]:
        """Bring edits about, as `Hosts` says; of several for a host the last one counts.

        A new address is posted beside the old one first. Where that does not take the old one's
        place, the host is deleted and posted again.
        """
        failed: Failures = {}
        wanted = _usable(edits, failed)
        there = self._addresses()
        open_ = self._permitted(wanted, there, failed)
        for again in range(ROUNDS):
            open_ = {host: edit for host, edit in open_.items() if not _holds(edit, host, there)}
            if not open_:
                return failed
            refused = self._round(open_, there, replacing=again > 0)
            failed |= refused
            open_ = {host: edit for host, edit in open_.items() if edit not in refused}
            there = self._addresses()
        return failed | {
            edit: _undone(host) for host, edit in open_.items() if not _holds(edit, host, there)
        }

    def _permitted(
        self, wanted: Mapping[str, RecordEdit], there: Addresses, failed: Failures
    ) -> dict[str, RecordEdit]:
        """Return what changes nothing of others, by host."""
        permitted = {}
        for host, edit in wanted.items():
            others = _of_family_a(there.get(host, set()))
            if edit.ip is None or not others or host in self._owned:
                permitted[host] = edit
            elif edit.ip in others:
                continue
            elif self._rules.take_over:
                permitted[host] = edit
            else:
                failed[edit] = hosts_lines.conflict(edit, sorted(others), self._rules)
        return permitted

    def _round(
        self, wanted: Mapping[str, RecordEdit], there: Addresses, *, replacing: bool
    ) -> Failures:
        failed: Failures = {}
        for host, edit in wanted.items():
            have = _of_family_a(there.get(host, set()))
            if edit.ip is None:
                error = self._delete(host)
            elif replacing or edit.ip in have:
                error = (self._delete(host) if have else None) or self._post(host, edit.ip)
            else:
                error = self._post(host, edit.ip)
                # Who does not take a second address says so; the next round replaces it.
                error = None if error and have and error.kind is FailureClass.INVALID else error
            if error:
                failed[edit] = error
        return failed

    def _post(self, host: str, ip: str) -> PiholeError | None:
        answer = self._send("POST", LOCAL, {"domain": host, "ip": ip})
        return None if answer.status < 300 else _refusal(answer, f"adding {host} with {ip}")

    def _delete(self, host: str) -> PiholeError | None:
        answer = self._send("DELETE", f"{LOCAL}/{quote(host, safe='')}")
        gone = answer.status < 300 or answer.status == 404
        return None if gone else _refusal(answer, f"deleting {host}")

    def _addresses(self) -> Addresses:
        answer = self._send("GET", LOCAL)
        if answer.status != 200:
            raise _refusal(answer, "reading its records")
        data = answer.data.get("data")
        if not isinstance(data, list):
            raise _unknown_form()
        found: Addresses = {}
        for row in data:
            host, ip = _record(row)
            found.setdefault(host, set()).add(ip)
        return found

    def _send(self, method: str, path: str, body: Mapping[str, str] | None = None) -> Response:
        """Return an answer.

        Raises:
            PiholeError: There is none, or it goes for every other request too.
        """
        answer = self._client.send(method, path, body, self._headers)
        if answer.status in (401, 403, 429):
            raise _refusal(answer, "asking it")
        return answer


def _usable(edits: Sequence[RecordEdit], failed: Failures) -> dict[str, RecordEdit]:
    """Return edits of A records by host, each address in its shortest form, sorted."""
    wanted = {}
    for edit in edits:
        if edit.family is Family.A or edit.ip is not None:
            try:
                wanted[_checked(edit)] = edit
            except PiholeError as error:
                failed[edit] = error
    return {host: wanted[host] for host in sorted(wanted)}


def _checked(edit: RecordEdit) -> str:
    if edit.ip is None:
        return edit.host.lower().removesuffix(".")
    if edit.family is not Family.A:
        raise PiholeError(
            f"{edit.host} gets no record with {edit.ip}: the interface dns-local has IPv4 addresses"
            " only; pic:piholeApi v6 has both",
            kind=FailureClass.INVALID,
        )
    hosts_lines.address(edit, edit.ip)
    return hosts.normalise(edit.host)


def _holds(edit: RecordEdit, host: str, there: Addresses) -> bool:
    return _of_family_a(there.get(host, set())) == ({edit.ip} - {None})


def _of_family_a(addresses: set[str]) -> set[str]:
    return {ip for ip in addresses if Family.of(ip) is Family.A}


def _record(row: object) -> tuple[str, str]:
    fields = row if isinstance(row, dict) else {}
    host, ip = fields.get("domain"), fields.get("ip")
    if not isinstance(host, str) or not isinstance(ip, str):
        raise _unknown_form()
    return host.lower().removesuffix("."), ip


def _unknown_form() -> PiholeError:
    return PiholeError(
        "Pi-hole shows its records in a form that pic does not know: pic:piholeApi dns-local needs"
        ' {"data": [{"domain": …, "ip": …}]}',
        kind=FailureClass.INVALID,
    )


def _undone(host: str) -> PiholeError:
    return PiholeError(
        f"Pi-hole does not keep what pic writes of {host}: somebody else may write its records at"
        " the same time"
    )


def _refusal(answer: Response, doing: str) -> PiholeError:
    problem = f"{doing} failed: Pi-hole answered {answer.status}"
    match answer.status:
        case 401 | 403:
            told = f"{problem}: set PIHOLE_API_TOKEN to a token that it accepts"
            return PiholeError(told, kind=FailureClass.AUTH)
        case 429:
            told = f"{problem}: too many requests"
            return PiholeError(told, kind=FailureClass.RATE_LIMITED, retry_after=WAIT)
        case 404:
            return PiholeError(problem + _ANOTHER)
        case status if status < 500:
            # Version 6 answers like this, and says where its own interface is.
            advice = _ANOTHER if "/api" in str(answer.data) else ""
            return PiholeError(problem + advice, kind=FailureClass.INVALID)
        case _:
            return PiholeError(problem)
