"""Reports what pic assumed about manifest files, and what it left out of them."""

from collections.abc import Iterator

from pic.core import rendering_commands
from pic.core.files import FilesRead
from pic.core.notices import Notice, Reason, Ref


def notices(files: FilesRead | None) -> Iterator[Notice]:
    """Yield the notices about the files of a plan."""
    if files is None:
        return
    if files.assumed:
        yield _assumed(files.assumed)
    if files.excluded:
        yield _excluded(files.excluded)
    for skipped in files.skipped:
        about = Ref("Flag", "", "--skip-broken")
        yield Notice(Reason.FILE_SKIPPED, about, f"{skipped.where}: {skipped.problem}")
    if files.kustomizations:
        yield _not_rendered(*files.kustomizations)


def _assumed(count: int) -> Notice:
    objects = "1 object in the files names" if count == 1 else f"{count} objects in the files name"
    message = (
        f"{objects} no namespace, so pic takes this one: pass --namespace NAME, as to kubectl, or"
        " write metadata.namespace"
    )
    return Notice(Reason.NAMESPACE_ASSUMED, Ref("Namespace", "", "default"), message)


def _excluded(count: int) -> Notice:
    what = "1 file is left out" if count == 1 else f"{count} files are left out"
    message = f"{what}: this report does not show what kubectl would apply from there"
    return Notice(Reason.FILES_EXCLUDED, Ref("Flag", "", "--exclude"), message)


def _not_rendered(first: str, *others: str) -> Notice:
    also = f" (and {len(others)} more)" if others else ""
    message = (
        "the files of a kustomization are read as they are, so its namespace, its prefixes and its"
        f" patches are missing{also}: pass --render kustomize with its folder, or run"
        f" {rendering_commands.kustomize(first)}"
    )
    return Notice(Reason.NOT_RENDERED, Ref("Kustomization", "", first), message)
