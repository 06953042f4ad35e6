"""Reads from Pi-hole's configuration what it answers for a host in place of `dns.hosts`. No I/O.

Measured with dnsmasq: a CNAME of exactly the host wins over a record, and a `host-record` answers
too. A CNAME with a wildcard, `address=` and `server=` do not apply to a host with a record.
"""

from collections.abc import Iterable, Iterator

from pic.pihole.lines import address_of, name_of

CNAMES, LINES = "dns.cnameRecords", "misc.dnsmasq_lines"


def shadows(cname_records: Iterable[str], dnsmasq_lines: Iterable[str]) -> dict[str, str]:
    """Return what answers for each host, in words.

    Args:
        cname_records: Entries such as `alias,target` or `alias,other,target,300`.
        dnsmasq_lines: Lines of a dnsmasq configuration, such as `cname=alias,target`.
    """
    return {
        **dict(_of_lines(dnsmasq_lines)),
        **dict(answer for record in cname_records for answer in _of_cname(record, CNAMES)),
    }


def _of_lines(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        option, _, value = line.partition("#")[0].partition("=")
        match option.strip().removeprefix("--"):
            case "cname":
                yield from _of_cname(value, LINES)
            case "host-record":
                yield from _of_host_record(value)
            case _:
                continue


def _of_cname(record: str, source: str) -> Iterator[tuple[str, str]]:
    words = [word.strip() for word in record.split(",")]
    # The last word may be the time to live.
    *aliases, target = words[:-1] if words[-1].isdecimal() else words
    for alias in aliases:
        yield name_of(alias), f"{name_of(target)}, a CNAME of {source}"


def _of_host_record(value: str) -> Iterator[tuple[str, str]]:
    words = [word.strip() for word in value.split(",")]
    addresses = [address for word in words if (address := address_of(word))]
    for name in words:
        if not name.isdecimal() and address_of(name) is None:
            yield name_of(name), f"{', '.join(addresses)} too, a host-record of {LINES}"
