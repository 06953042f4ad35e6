"""Reads and writes single records below `/admin/api/dns/local`, with a bearer token.

No released Pi-hole has this interface, but some proxies and forks do (docs/pihole.md). A record has
no field for a marker, so the caller names the hosts whose records are ours. A delete names a host
and removes all its addresses.
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
from pic.settings.field import TakeOver

RECORDS_PATH = "/admin/api/dns/local"
RETRY_AFTER = 60  # seconds
# The first round adds addresses, and the second replaces the hosts that still have an old one. The
# third one repeats that, in case another program has written in between.
ROUNDS = 3

_WRONG_API = (
    "; no released Pi-hole has the interface dns-local: set pic:piholeApi to v6 if it is a Pi-hole"
    " v6"
)

Addresses = dict[str, set[str]]
Failures = dict[RecordEdit, PiholeError]


class DnsLocal:
    """Implements `Hosts` for dns-local, which has no sessions."""

    def __init__(
        self,
        client: Client,
        token: str,
        owned: frozenset[str],
        *,
        take_over: TakeOver = TakeOver.NONE,
    ) -> None:
        """Prepare requests; send nothing.

        Args:
            client: Sends the requests.
            token: Printable ASCII.
            owned: The hosts whose records are ours.
            take_over: Whether a record of another owner may get our address: no record shows that
                another pic made it, so only ALL counts.
        """
        self._client = client
        self._headers = {"Authorization": f"Bearer {token}"}
        self._owned = owned
        self._rules = Rules("", take_over)

    def read(self) -> tuple[LiveRecord, ...]:
        """Return every record, as `Hosts.read` does."""
        records = [
            LiveRecord(host, ip, host in self._owned)
            for host, addresses in self._addresses().items()
            for ip in addresses
        ]
        return tuple(sorted(records, key=lambda record: (*record.key, record.ip)))

    def shadows(self) -> Mapping[str, str]:
        """Return nothing: this interface does not show other answers."""
        return {}

    def apply(self, edits: Sequence[RecordEdit]) -> Mapping[RecordEdit, PiholeError]:
        """Apply edits, as `Hosts.apply` does; the last edit of a host counts.

        The first round adds the new address next to the old one, so that the host always resolves.
        If the old address stays, the next round deletes the host and adds it again.
        """
        failures: Failures = {}
        wanted = _usable(edits, failures)
        live = self._addresses()
        pending = self._permitted(wanted, live, failures)
        for number in range(ROUNDS):
            pending = {
                host: edit for host, edit in pending.items() if not _is_done(edit, host, live)
            }
            if not pending:
                return failures
            refusals = self._round(pending, live, replacing=number > 0)
            failures |= refusals
            pending = {host: edit for host, edit in pending.items() if edit not in refusals}
            live = self._addresses()
        return failures | {
            edit: _undone(host) for host, edit in pending.items() if not _is_done(edit, host, live)
        }

    def _permitted(
        self, wanted: Mapping[str, RecordEdit], live: Addresses, failures: Failures
    ) -> dict[str, RecordEdit]:
        """Return the edits that change no record of another owner, by host."""
        permitted = {}
        for host, edit in wanted.items():
            addresses = _of_family_a(live.get(host, set()))
            # The engine deletes only records in its state, so a delete is always about our record.
            if edit.ip is None or not addresses or host in self._owned:
                permitted[host] = edit
            elif edit.ip in addresses:
                continue  # The host resolves as wanted, so the foreign record stays.
            elif self._rules.take_over is TakeOver.ALL:
                permitted[host] = edit
            else:
                failures[edit] = hosts_lines.conflict_error(edit, sorted(addresses), self._rules)
        return permitted

    def _round(
        self, wanted: Mapping[str, RecordEdit], live: Addresses, *, replacing: bool
    ) -> Failures:
        failures: Failures = {}
        for host, edit in wanted.items():
            addresses = _of_family_a(live.get(host, set()))
            if edit.ip is None:
                error = self._delete(host)
            elif replacing or edit.ip in addresses:
                error = (self._delete(host) if addresses else None) or self._post(host, edit.ip)
            else:
                error = self._post(host, edit.ip)
                # Some servers refuse a second address for a host; the next round replaces it.
                if error and addresses and error.kind is FailureClass.INVALID:
                    error = None
            if error:
                failures[edit] = error
        return failures

    def _post(self, host: str, ip: str) -> PiholeError | None:
        answer = self._send("POST", RECORDS_PATH, {"domain": host, "ip": ip})
        return None if answer.status < 300 else _refusal(answer, f"adding {host} with {ip}")

    def _delete(self, host: str) -> PiholeError | None:
        answer = self._send("DELETE", f"{RECORDS_PATH}/{quote(host, safe='')}")
        deleted = answer.status < 300 or answer.status == 404
        return None if deleted else _refusal(answer, f"deleting {host}")

    def _addresses(self) -> Addresses:
        answer = self._send("GET", RECORDS_PATH)
        if answer.status != 200:
            raise _refusal(answer, "reading its records")
        data = answer.data.get("data")
        if not isinstance(data, list):
            raise _unknown_form()
        addresses: Addresses = {}
        for row in data:
            host, ip = _record(row)
            addresses.setdefault(host, set()).add(ip)
        return addresses

    def _send(self, method: str, path: str, body: Mapping[str, str] | None = None) -> Response:
        """Send a request and return its answer.

        Raises:
            PiholeError: There is no answer, or every other request would get the same refusal.
        """
        answer = self._client.send(method, path, body, self._headers)
        if answer.status in (401, 403, 429):
            raise _refusal(answer, "the request")
        return answer


def _usable(edits: Sequence[RecordEdit], failures: Failures) -> dict[str, RecordEdit]:
    """Return the valid edits of A records, sorted by host."""
    usable = {}
    for edit in edits:
        # Skips the delete of an AAAA record: it would delete the A record of the host as well.
        if edit.family is Family.A or edit.ip is not None:
            try:
                usable[_checked_host(edit)] = edit
            except PiholeError as error:
                failures[edit] = error
    return {host: usable[host] for host in sorted(usable)}


def _checked_host(edit: RecordEdit) -> str:
    if edit.ip is None:
        return edit.host.lower().removesuffix(".")
    if edit.family is not Family.A:
        raise PiholeError(
            f"{edit.host} gets no record with {edit.ip}: the interface dns-local accepts only IPv4"
            " addresses; set pic:piholeApi to v6 for both families",
            kind=FailureClass.INVALID,
        )
    hosts_lines.checked_address(edit, edit.ip)
    return hosts.normalise(edit.host)


def _is_done(edit: RecordEdit, host: str, live: Addresses) -> bool:
    return _of_family_a(live.get(host, set())) == ({edit.ip} - {None})


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
        "Pi-hole returned its records in a form that pic does not know: pic:piholeApi dns-local"
        ' needs {"data": [{"domain": …, "ip": …}]}',
        kind=FailureClass.INVALID,
    )


def _undone(host: str) -> PiholeError:
    return PiholeError(
        f"Pi-hole does not keep the record that pic writes for {host}: another program may write"
        " its records at the same time. Let only one program do so"
    )


def _refusal(answer: Response, action: str) -> PiholeError:
    problem = f"{action} failed: Pi-hole answered {answer.status}"
    match answer.status:
        case 401 | 403:
            message = f"{problem}: set PIHOLE_API_TOKEN to a token that Pi-hole accepts"
            return PiholeError(message, kind=FailureClass.AUTH)
        case 429:
            message = f"{problem}: too many requests"
            return PiholeError(message, kind=FailureClass.RATE_LIMITED, retry_after=RETRY_AFTER)
        case 404:
            return PiholeError(problem + _WRONG_API)
        case status if status < 500:
            # Version 6 answers an unknown path like this, and names its own interface.
            advice = _WRONG_API if "/api" in str(answer.data) else ""
            return PiholeError(problem + advice, kind=FailureClass.INVALID)
        case _:
            return PiholeError(problem)
