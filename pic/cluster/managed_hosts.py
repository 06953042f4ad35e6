"""Writes the annotation `pihole.io/managed-hosts`: the hosts of an Ingress that Pi-hole has.

The annotation informs users. With the interface dns-local it also says which records belong to pic
(docs/pihole.md).
"""

import concurrent.futures
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from pic.cluster.listing import NETWORKING, StatusError, Transport
from pic.core.errors import ClusterError
from pic.core.ingress import Ingress
from pic.core.model import Plan, Record
from pic.planning.dns_requests import MANAGED_HOSTS
from pic.settings.parse import Settings, TargetName

# Not the field manager of the resources. An apply removes each field that its manager applied
# before and no longer sends, so two uses of one manager on one object would undo each other.
FIELD_MANAGER = "pic-pihole"
WRITERS = 4


@dataclass(frozen=True, slots=True)
class HostsAnnotation:
    """The annotation that an Ingress should have; without hosts it should have none."""

    ingress: Ingress
    hosts: tuple[str, ...]

    @property
    def value(self) -> str:
        """The value of the annotation."""
        return ",".join(self.hosts)

    @property
    def is_current(self) -> bool:
        """Whether the Ingress has this annotation already."""
        return self.value == (self.ingress.annotations.get(MANAGED_HOSTS) or "")


def stale_annotations(
    ingresses: Sequence[Ingress], plan: Plan, settings: Settings, failed: Collection[Record] = ()
) -> tuple[HostsAnnotation, ...]:
    """Return the annotations that differ from the records in Pi-hole.

    Args:
        ingresses: All Ingresses of the cluster.
        plan: Its records are in Pi-hole, except those that failed.
        settings: The settings of the run.
        failed: The records that Pi-hole did not take.
    """
    if not settings.pihole_annotate or TargetName.PIHOLE not in settings.targets:
        return ()
    hosts: dict[str, set[str]] = {}
    for record in plan.records:
        for owner in record.owners if record not in failed else ():
            hosts.setdefault(owner.uid, set()).add(record.host)
    wanted = (
        HostsAnnotation(ingress, tuple(sorted(hosts.get(ingress.uid, ())))) for ingress in ingresses
    )
    return tuple(annotation for annotation in wanted if not annotation.is_current)


def write_annotations(
    transport: Transport, annotations: Sequence[HostsAnnotation], tell: Callable[[str], None]
) -> None:
    """Write annotations, and report those that cannot be written.

    A failure does not end the run: the annotation only informs.

    Args:
        transport: The connection to the cluster.
        annotations: The annotations to write.
        tell: Takes one line about the annotations that could not be written.
    """
    with concurrent.futures.ThreadPoolExecutor(WRITERS) as pool:
        jobs = [
            (annotation.ingress, pool.submit(_write, transport, annotation))
            for annotation in annotations
        ]
    problems = [
        f"{ingress.namespace}/{ingress.name}: {error}"
        for ingress, job in jobs
        if (error := job.exception())
    ]
    if problems:
        more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
        tell(f"cannot write {MANAGED_HOSTS}: Ingress {problems[0]}{more}")


def _write(transport: Transport, annotation: HostsAnnotation) -> None:
    ingress = annotation.ingress
    # An apply without the annotation removes it, if this manager has applied it before.
    annotations = {MANAGED_HOSTS: annotation.value} if annotation.hosts else {}
    body = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {
            "name": ingress.name,
            "namespace": ingress.namespace,
            # With the uid, an apply cannot create an Ingress that was deleted in the meantime.
            "uid": ingress.uid,
            "annotations": annotations,
        },
    }
    path = f"{NETWORKING}/namespaces/{ingress.namespace}/ingresses/{ingress.name}"
    try:
        # A conflict means that another client has set the annotation. It belongs to pic, so pic
        # overwrites the value.
        transport.request("APPLY", f"{path}?fieldManager={FIELD_MANAGER}&force=true", body)
    except StatusError as error:
        # The Ingress was deleted or replaced. The next run annotates its successor.
        if error.status not in (404, 409) and not error.namespace_gone:
            raise ClusterError(str(error)) from error
