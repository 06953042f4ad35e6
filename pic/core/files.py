"""Defines what pic reports about the manifest files that a plan comes from. No I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that pic could not read, or a second object that differs from the first of its name.

    `--skip-broken` lets pic go on without it.

    Attributes:
        where: The file and the line, such as `charts/web.yaml:12`.
        problem: What is wrong there.
    """

    where: str
    problem: str


@dataclass(frozen=True, slots=True)
class FilesRead:
    """What pic read from the files of `--manifests`.

    Attributes:
        partial: Whether an object that the files do not have may exist all the same.
        files: The number of files that were read.
        objects: The number of objects in them, of any kind.
        excluded: The number of files that `--exclude` left out.
        skipped: What `--skip-broken` left out.
        assumed: The number of objects that name no namespace, and for which the user named none.
        classes: The number of Ingresses by class, where an empty name stands for no class.
        kustomizations: The folders with a kustomization that nothing has rendered.
    """

    partial: bool = False
    files: int = 0
    objects: int = 0
    excluded: int = 0
    skipped: tuple[SkippedFile, ...] = ()
    assumed: int = 0
    classes: Mapping[str, int] = field(default_factory=dict)
    kustomizations: tuple[str, ...] = ()

    @property
    def ingresses(self) -> int:
        """The number of Ingresses, of any class."""
        return sum(self.classes.values())
