"""The installed version of pic."""

from pic.core.version import installed_version


def test_the_version_of_a_missing_distribution_is_uninstalled() -> None:
    assert installed_version() != "uninstalled"
    assert installed_version("no-such-distribution") == "uninstalled"
