"""What the provider is configured with: the settings of Pi-hole, without any secret. No I/O."""

from collections.abc import Mapping

from pic.settings import parse
from pic.settings.fields import FIELDS
from pic.settings.parse import Settings
from pic.settings.readers import written

_PREFIX = "pihole"
# What only the program uses.
_OTHERS = ("piholeTargetIp", "piholeAnnotate")


def write(settings: Settings, cluster_id: str) -> dict[str, str]:
    """Return the properties of a provider, those that are empty left out."""
    found = {"clusterId": cluster_id}
    for row in FIELDS:
        if row.key.startswith(_PREFIX) and row.key not in _OTHERS:
            name = row.key.removeprefix(_PREFIX)
            found[name[0].lower() + name[1:]] = written(getattr(settings, row.attribute))
    return {key: value for key, value in sorted(found.items()) if value}


def read(properties: Mapping[str, object]) -> tuple[Settings, str]:
    """Return the settings and the cluster id of a provider.

    Raises:
        SettingsError: They cannot be right.
    """
    raw = {
        f"{_PREFIX}{key[0].upper()}{key[1:]}": value
        for key, value in properties.items()
        if key not in ("clusterId", "version")
    }
    # What the environment says went into the properties where the program ran.
    settings, _ = parse.parse(raw, {})
    return settings, str(properties.get("clusterId") or "")
