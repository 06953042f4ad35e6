"""Converts settings to the properties of the Pulumi provider, and back, without any secret."""

from collections.abc import Mapping

from pic.settings import parse
from pic.settings.fields import FIELDS
from pic.settings.parse import Settings
from pic.settings.readers import format_value

_PREFIX = "pihole"
# Only the program uses these settings, so a change of them must not touch the provider.
_PROGRAM_ONLY = ("piholeTargetIp", "piholeAllowAddresses", "piholeAnnotate")


def write(settings: Settings, cluster_id: str) -> dict[str, str]:
    """Return the properties of a provider, without empty ones."""
    properties = {"clusterId": cluster_id, "stackId": settings.stack_id}
    for row in FIELDS:
        if row.key.startswith(_PREFIX) and row.key not in _PROGRAM_ONLY:
            name = row.key.removeprefix(_PREFIX)
            properties[name[0].lower() + name[1:]] = format_value(getattr(settings, row.attribute))
    return {key: value for key, value in sorted(properties.items()) if value}


def read(properties: Mapping[str, object]) -> tuple[Settings, str]:
    """Return the settings and the cluster id of a provider.

    Raises:
        SettingsError: A property has an invalid value.
    """
    raw = {
        f"{_PREFIX}{key[0].upper()}{key[1:]}": value
        for key, value in properties.items()
        if key not in ("clusterId", "stackId", "version")
    }
    raw["stackId"] = properties.get("stackId")
    # No environment: the program has already copied its variables into the properties.
    settings, _ = parse.parse(raw, {})
    return settings, str(properties.get("clusterId") or "")
