"""Tests that one backend has one name, however its URL is written."""

from pathlib import Path

import pytest

from pic.engine.backend import place


@pytest.mark.parametrize(
    "spellings",
    [
        ("s3://states/team?region=eu&endpoint=http://127.0.0.1:1", "s3://states/team/?endpoint=127.0.0.1:1"),
        ("postgres://ann:secret@DB:5432/pulumi?sslmode=disable", "postgres://db:5432/pulumi"),
        ("https://api.pulumi.com/", "https://api.pulumi.com"),
        ("gs://my%20states", "gs://my%20states/"),
        ("", ""),
    ],
)  # fmt: skip
def test_spellings_of_one_backend_have_one_key(spellings: tuple[str, str]) -> None:
    first, second = spellings

    assert place.key(first, "prod") == place.key(second, "organization/pic/prod")
    assert "secret" not in place.normalised(first)


def test_a_folder_has_one_key_whatever_leads_to_it(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "state")
    key = place.key(f"file://{tmp_path}/state", "prod")

    assert place.key(f"file://{tmp_path}/link/", "prod") == key
    assert place.key(f"file://{tmp_path}/x/../state?no_tmp_dir=true", "prod") == key


def test_other_backends_and_stacks_have_other_keys(tmp_path: Path) -> None:
    urls = (
        *(f"file://{tmp_path}", f"file://{tmp_path}?prefix=team/", "s3://states", "s3://states/team"),
        *("s3://states?prefix=team/", "s3://states?endpoint=one", "postgres://db/pulumi"),
        *("postgres://db/pulumi?table=other", "gs://states"),
    )  # fmt: skip
    keys = {place.key(url, "prod") for url in urls}

    assert len(keys) == len(urls)
    assert place.key(urls[0], "dev") not in keys
