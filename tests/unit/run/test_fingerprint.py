"""Tests what identifies a deployment."""

from dataclasses import replace

from pic.core.model import LiveResource, Owner, Plan, Record
from pic.run import fingerprint
from pic.settings.parse import PiholeApi, Settings, TargetName
from tests.support.deployed import CLUSTER, A, make_situation, wanted

OWNER = Owner("lab", "web", "uid-web")
NAS = Record("nas.lan", "192.0.2.7", (OWNER,))
HOST = Plan((wanted(A),))


def digest(*records: Record) -> str:
    return fingerprint.digest(replace(HOST, records=records), Settings())


def test_the_digest_depends_on_the_records() -> None:
    assert digest(NAS) != digest()
    assert digest(NAS) != digest(replace(NAS, ip="192.0.2.8"))
    assert digest(NAS) != digest(replace(NAS, host="tv.lan"))


def test_the_digest_ignores_what_the_record_in_pihole_does_not_show() -> None:
    assert digest(NAS) == digest(replace(NAS, held=True)) == digest(replace(NAS, owners=()))


def test_the_conditions_name_pihole_only_if_it_is_a_target() -> None:
    one = Settings(cluster_id=CLUSTER, pihole_url="http://pi.hole")
    both = replace(
        one,
        targets=(TargetName.PIHOLE, TargetName.PANGOLIN),
        pihole_api=PiholeApi.DNS_LOCAL,
    )

    pangolin_only, with_pihole = (
        fingerprint.conditions(make_situation((), (), settings)) for settings in (one, both)
    )

    assert with_pihole == {
        **pangolin_only,
        "targets": "pangolin, pihole",
        "piholeUrl": "http://pi.hole",
        "piholeApi": "dns-local",
    }
    assert "piholeUrl" not in pangolin_only


def test_the_digest_depends_on_what_is_being_deleted() -> None:
    first, second = (LiveResource("prod", name, "uid", A) for name in ("a", "b"))

    digests = {fingerprint.digest(HOST, Settings(), going) for going in ((), (first,), (second,))}

    assert len(digests) == 3
