"""Tests how a run reads the cluster and Pi-hole."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dev.pihole.server import PiHole
from pic.cluster.listing import NETWORKING
from pic.core.errors import FailureClass
from pic.core.model import LiveRecord
from pic.core.names import derived_uid
from pic.run import reading
from pic.settings.parse import PiholeApi, Settings, TargetName
from pic.snapshot.assemble import RawSnapshot
from tests.support.api import CLUSTER, Api, fill_cluster, ingress, serving
from tests.support.manifests import ingress_manifest, write_manifests
from tests.support.pihole_cluster import (
    MARKER,
    PASSWORD,
    environment,
    pihole_settings,
    serving_cluster,
)


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    with serving_cluster(tmp_path) as api:
        yield api


def read(tmp_path: Path, url: str, **values: object) -> RawSnapshot:
    settings = pihole_settings(url, **values)
    return reading.read_cluster_or_file(settings, environment(tmp_path, PIHOLE_PASSWORD=PASSWORD))


def test_a_live_snapshot_is_the_cluster_with_files_laid_over_it(tmp_path: Path) -> None:
    with serving() as api:
        fill_cluster(api, [ingress("web", "a.org"), ingress("other", "b.org")])
        variables = {"KUBECONFIG": api.kubeconfig(tmp_path / "config")}
        path = write_manifests(tmp_path, ingress_manifest("web"), ingress_manifest("new"))

        live = reading.live_snapshot(Settings(), variables)
        laid_over = reading.live_snapshot(Settings(), variables, [path])

    assert live.cluster_id == laid_over.cluster_id == CLUSTER
    assert [ingress.name for ingress in live.ingresses] == ["web", "other"]
    assert [(item.name, item.uid, len(item.rules)) for item in laid_over.ingresses] == [
        ("web", "uid-prod-web", 0),
        ("other", "uid-prod-other", 1),
        ("new", derived_uid("Ingress", "prod", "new"), 0),
    ]
    paths = [request.path.partition("?")[0] for request in api.requests]
    assert paths.count(f"{NETWORKING}/ingresses") == 2


@pytest.mark.usefixtures("api")
def test_a_run_reads_the_records_of_pihole_and_ends_its_session(tmp_path: Path) -> None:
    lines = [f"192.0.2.9 web.lan {MARKER}", "192.0.2.7 nas.lan nas"]

    with PiHole(password=PASSWORD, records=lines) as pihole:
        records = read(tmp_path, pihole.url).records
        sessions = pihole.sessions

    assert records == (
        LiveRecord("nas", "192.0.2.7", alone=False),
        LiveRecord("nas.lan", "192.0.2.7", alone=False),
        LiveRecord("web.lan", "192.0.2.9", ours=True),
    )
    assert sessions == 0


@pytest.mark.usefixtures("api")
def test_24_without_markers_no_record_is_ours_before_the_register_says_so(tmp_path: Path) -> None:
    lines = ["192.0.2.9 web.lan", "192.0.2.7 nas.lan"]

    with PiHole(password=PASSWORD, api="dns-local", records=lines) as pihole:
        records = read(tmp_path, pihole.url, pihole_api=PiholeApi.DNS_LOCAL).records

    assert records == (LiveRecord("nas.lan", "192.0.2.7"), LiveRecord("web.lan", "192.0.2.9"))


@pytest.mark.usefixtures("api")
def test_a_run_without_the_password_of_pihole_says_that_it_is_missing(tmp_path: Path) -> None:
    raw = reading.read_cluster_or_file(pihole_settings("http://127.0.0.1:9"), environment(tmp_path))

    assert raw.unanswered is not None
    assert raw.unanswered.error.kind is FailureClass.AUTH
    assert raw.unanswered.url == "http://127.0.0.1:9"


def test_a_run_does_not_read_a_pihole_that_is_no_target_or_has_no_url(
    api: Api, tmp_path: Path
) -> None:
    without_url = read(tmp_path, "")
    with PiHole(password=PASSWORD) as pihole:
        no_target = read(tmp_path, pihole.url, targets=(TargetName.PANGOLIN,))
        log = pihole.log

    assert (without_url.records, without_url.unanswered) == (None, None)
    assert (no_target.records, no_target.unanswered) == (None, None)
    assert log == []
    assert api.requests
