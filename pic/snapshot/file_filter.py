"""Decides which files of a folder count, and what happens to a file that cannot be read.

By default every file counts, and a broken one ends the run: a review must not miss an object that
kubectl applies. `--exclude` and `--skip-broken` are for folders that also hold other files.
"""

from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePath

from pic.core.errors import ManifestError
from pic.core.files import SkippedFile

# The names by which kustomize finds the file of a folder.
KUSTOMIZATIONS = frozenset({"kustomization.yaml", "kustomization.yml", "Kustomization"})


class FileFilter:
    """Leaves files out, and remembers which.

    Attributes:
        excluded: The number of files that a pattern left out.
        skipped: The broken files that were left out.
        kustomizations: The folders with a kustomization, whose files are read as they are.
    """

    def __init__(self, exclude: Sequence[str] = (), *, skip_broken: bool = False) -> None:
        written = [pattern.removeprefix("./").rstrip("/") for pattern in exclude]
        # As elsewhere, `**/x` is also the `x` of the folder itself.
        self._patterns = {*written, *(pattern.removeprefix("**/") for pattern in written)}
        self._skip_broken = skip_broken
        self.excluded = 0
        self.skipped: list[SkippedFile] = []
        self.kustomizations: list[str] = []

    def leaves_out(self, path: PurePath) -> bool:
        """Say whether a pattern matches a path, relative to the folder of the flag, or a parent."""
        candidates = (path, *path.parents)
        return any(
            fnmatchcase(candidate.as_posix(), pattern)
            for pattern in self._patterns
            for candidate in candidates
        )

    def refuse(self, error: ManifestError) -> None:
        """Leave out the file that an error is about.

        Raises:
            ManifestError: The user does not want broken files to be skipped.
        """
        if not self._skip_broken:
            raise error
        self.skipped.append(SkippedFile(error.where, error.problem))

    def note(self, folder: str, names: Collection[str]) -> None:
        """Remember a folder if one of its files is a kustomization."""
        if KUSTOMIZATIONS & set(names):
            self.kustomizations.append(folder)

    def forget(self, path: PurePath) -> None:
        """Forget the folder of a file that has the name of a kustomization, and is none."""
        folder = str(path.parent)
        if path.name in KUSTOMIZATIONS and folder in self.kustomizations:
            self.kustomizations.remove(folder)
