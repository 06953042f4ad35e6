"""What names a deployment."""

from dataclasses import replace

from pic.core.model import Owner, Plan, Record
from pic.run import fingerprint
from pic.settings.parse import PiholeApi, Settings, TargetName
from tests.support.deployed import (
    CLUSTER,
    A,
    situation,
    wanted,
)

OWNER = Owner("lab", "web", "uid-web")
NAS = Record("nas.lan", "192.0.2.7", (OWNER,))
HOST = Plan((wanted(A),))


def digest(*records: Record) -> str:
    return fingerprint.digest(replace(HOST, records=records), Settings())


def test_a_digest_names_the_records_as_well() -> None:
    assert digest(NAS) != digest()
    assert digest(NAS) != digest(replace(NAS, ip="192.0.2.8"))
    assert digest(NAS) != digest(replace(NAS, host="tv.lan"))


def test_what_pihole_is_not_told_of_a_record_is_not_in_a_digest() -> None:
    assert digest(NAS) == digest(replace(NAS, held=True)) == digest(replace(NAS, owners=()))


def test_the_means_name_pihole_only_where_it_is_a_target() -> None:
    settings = Settings(cluster_id=CLUSTER, pihole_url="http://pi.hole")
    both = replace(
        settings,
        targets=(TargetName.PIHOLE, TargetName.PANGOLIN),
        pihole_api=PiholeApi.DNS_LOCAL,
    )

    bare, found = (fingerprint.means(situation((), (), each)) for each in (settings, both))

    assert found == {
        **bare,
        "targets": "pangolin, pihole",
        "piholeUrl": "http://pi.hole",
        "piholeApi": "dns-local",
    }
    assert "piholeUrl" not in bare
