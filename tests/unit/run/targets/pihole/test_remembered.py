"""Tests which records of the register Pi-hole has lost."""

from dataclasses import replace
from pathlib import Path

from dev.pihole import PiHole
from pic.cluster.listing import Timeouts
from pic.core import names
from pic.core.findings import passed
from pic.core.model import LiveRecord
from pic.core.register import Bucket, RecordEntry, Register, RegisterStatus, bucket_of
from pic.run.targets.pihole import doctor, remembered
from pic.settings.parse import Settings
from pic.snapshot import register
from tests.support.api import REGISTER, REGISTER_NAMESPACE, STACK_ID, Api, fill_cluster, serving
from tests.support.doctor_contexts import FakeCheckout
from tests.support.pihole_cluster import PASSWORD, pihole_settings
from tests.support.pihole_fakes import no_sleep

LIVE = LiveRecord("web.lan", "192.0.2.1", ours=True)
FAST = Timeouts(connect=0.2, read=5.0, retries=0)


def serve_register(api: Api, stack_id: str = STACK_ID) -> None:
    """Let the register have a live record, a missing one and one that is gone."""
    entries = [
        RecordEntry("web.lan/A", "192.0.2.1", "prod"),
        RecordEntry("tv.lan/A", "192.0.2.1", "prod"),
        RecordEntry("old.lan/A", "192.0.2.1", "prod", gone="2026-01-01T00:00:00Z"),
    ]
    buckets = {bucket_of(entry.host): Bucket(stack_id, "", 1) for entry in entries}
    stored = Register(RegisterStatus.READ, {}, {it.record: it for it in entries}, buckets)
    bodies = [
        {
            "metadata": {
                "name": f"pic-prod-{digit}",
                "namespace": REGISTER_NAMESPACE,
                "labels": {names.STACK_LABEL: "pic.prod", names.BUCKET_LABEL: digit},
            },
            "data": data,
        }
        for digit, data in register.data(stored).items()
    ]
    fill_cluster(api, [])
    api.set_objects(REGISTER, *bodies)


def lost(tmp_path: Path, settings: Settings) -> tuple[str, ...]:
    environment = {"KUBECONFIG": str(tmp_path / "config")}
    return remembered.lost([LIVE], settings, environment, FAST)


def test_a_record_that_the_register_of_the_stack_has_is_missing(tmp_path: Path) -> None:
    settings = pihole_settings("http://pi.hole")
    with serving() as api:
        api.kubeconfig(tmp_path / "config")
        serve_register(api)
        assert lost(tmp_path, settings) == ("tv.lan/A",)
        assert lost(tmp_path, replace(settings, register_namespace="")) == ()
        assert lost(tmp_path, replace(settings, stack_id="another")) == ()

    assert lost(tmp_path, settings) == ()


def test_the_doctor_says_what_is_missing_and_what_the_cause_may_be(tmp_path: Path) -> None:
    with serving() as api, PiHole(password=PASSWORD) as server:
        api.kubeconfig(tmp_path / "config")
        serve_register(api)
        environment = {"KUBECONFIG": str(tmp_path / "config"), "PIHOLE_PASSWORD": PASSWORD}
        context = FakeCheckout(tmp_path).context(environment, seconds=10.0)

        *_, last = doctor.examine(context, pihole_settings(server.url), no_sleep)

    assert last == passed(
        "pihole records",
        "0 belong to this stack, 0 do not",
        "2 that the register has are missing, such as tv.lan/A: run pic up, and if they are missing"
        " again after each start of Pi-hole, mount the folder /etc/pihole and not the file"
        " pihole.toml",
    )
