"""Reads the installed version of pic."""

from importlib.metadata import PackageNotFoundError, version

DISTRIBUTION = "pangolin-ingress-controller"


def installed_version(distribution: str = DISTRIBUTION) -> str:
    """Return the version of pic; `uninstalled` in a checkout that is not installed as a package."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "uninstalled"
