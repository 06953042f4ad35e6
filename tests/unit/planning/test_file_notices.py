"""Tests the notices about the files of a plan; a scenario shows all of them."""

from pic.core.files import FilesRead
from pic.planning.file_notices import notices


def messages(files: FilesRead | None) -> list[str]:
    return [notice.message for notice in notices(files)]


def test_without_files_and_without_anything_to_say_there_are_no_notices() -> None:
    assert messages(None) == []
    assert messages(FilesRead(files=3, objects=5)) == []


def test_a_single_object_or_file_has_no_plural() -> None:
    assumed, excluded = messages(FilesRead(assumed=1, excluded=1))

    assert assumed.startswith("1 object in the files names no namespace, so")
    assert excluded.startswith("1 file is left out: ")


def test_the_command_for_a_kustomization_works_as_copied() -> None:
    (message,) = messages(FilesRead(kustomizations=("my app",)))

    assert message == (
        "the files of a kustomization are read as they are, so its namespace, its prefixes and its"
        " patches are missing: pass --render kustomize with its folder, or run kustomize build"
        " 'my app' | pic plan --offline --manifests -"
    )
