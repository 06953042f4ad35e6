"""Writes back to the Ingresses which of their hosts Pi-hole has, in `pihole.io/managed-hosts`."""

import concurrent.futures
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from pic.cluster.listing import NETWORKING, StatusError, Transport
from pic.core.errors import ClusterError
from pic.core.model import Ingress, Plan, Record
from pic.planning.dns_records import MANAGED_HOSTS
from pic.settings.parse import Settings, TargetName

FIELD_MANAGER = "pic-pihole"
WRITERS = 4


@dataclass(frozen=True, slots=True)
class HostsAnnotation:
    """What an Ingress should be annotated with; without a host it has no annotation."""

    ingress: Ingress
    hosts: tuple[str, ...]


def stale_annotations(
    ingresses: Sequence[Ingress], plan: Plan, settings: Settings, failed: Collection[Record] = ()
) -> tuple[HostsAnnotation, ...]:
    """Return the annotations that differ from what is registered.

    Args:
        ingresses: All of the cluster.
        plan: Its records are registered, but for those that failed.
        settings: Those of the run.
        failed: What could not be registered.
    """
    if not settings.pihole_annotate or TargetName.PIHOLE not in settings.targets:
        return ()
    hosts: dict[str, set[str]] = {}
    for record in plan.records:
        for owner in record.owners if record not in failed else ():
            hosts.setdefault(owner.uid, set()).add(record.host)
    found = (HostsAnnotation(each, tuple(sorted(hosts.get(each.uid, ())))) for each in ingresses)
    return tuple(
        note
        for note in found
        if ",".join(note.hosts) != (note.ingress.annotations.get(MANAGED_HOSTS) or "")
    )


def write_annotations(
    transport: Transport, wanted: Sequence[HostsAnnotation], tell: Callable[[str], None]
) -> None:
    """Write annotations; what cannot be written is told, and ends nothing."""
    with concurrent.futures.ThreadPoolExecutor(WRITERS) as writers:
        done = [(note, writers.submit(_write, transport, note)) for note in wanted]
    problems = [
        f"{note.ingress.namespace}/{note.ingress.name}: {error}"
        for note, job in done
        if (error := job.exception())
    ]
    if problems:
        more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
        tell(f"{MANAGED_HOSTS} is not written: Ingress {problems[0]}{more}")


def _write(transport: Transport, note: HostsAnnotation) -> None:
    ingress = note.ingress
    annotations = {MANAGED_HOSTS: ",".join(note.hosts)} if note.hosts else {}
    body = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {
            "name": ingress.name,
            "namespace": ingress.namespace,
            # An Ingress that is gone, or is another one by now, is not made by this.
            "uid": ingress.uid,
            "annotations": annotations,
        },
    }
    path = f"{NETWORKING}/namespaces/{ingress.namespace}/ingresses/{ingress.name}"
    try:
        transport.request("APPLY", f"{path}?fieldManager={FIELD_MANAGER}&force=true", body)
    except StatusError as error:
        # It is gone or another one: the next run sees what there is then.
        if error.status not in (404, 409):
            raise ClusterError(str(error)) from error
