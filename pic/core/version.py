"""Reads the installed version of pic."""

from importlib.metadata import PackageNotFoundError, version

DISTRIBUTION = "pangolin-ingress-controller"


def installed_version(distribution: str = DISTRIBUTION) -> str:
    """Return the version of pic; `uninstalled` in a checkout where only its requirements are."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "uninstalled"
