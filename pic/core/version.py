"""Tells the installed version of pic."""

from importlib.metadata import PackageNotFoundError, version

DISTRIBUTION = "pangolin-ingress-controller"


def installed_version(distribution: str = DISTRIBUTION) -> str:
    """Return the version of pic, which a checkout with only the requirements does not have."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "uninstalled"
