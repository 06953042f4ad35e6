"""The Pulumi provider of DNS records in a Pi-hole.

The password is looked up in the environment when the first record is dealt with, and is nowhere
else. A preview asks Pi-hole for nothing but what a refresh or an import has to read.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager

from pulumi.provider.experimental import provider as sdk
from pulumi.provider.experimental.property_value import Computed, PropertyValue

from pic.core.errors import PiholeError
from pic.core.model import Family, record_id
from pic.pihole import provider_config, resource
from pic.pihole.batching import Gatherer, Owned
from pic.pihole.protocol import Hosts, RecordEdit
from pic.settings.parse import PiholeApi, Settings

Values = dict[str, PropertyValue]
# Opens a session with what the provider was configured with.
Connect = Callable[[Settings, str, Owned], AbstractContextManager[Hosts]]

_KINDS = {
    False: sdk.PropertyDiffKind.UPDATE,
    True: sdk.PropertyDiffKind.UPDATE_REPLACE,
}


class Pihole(sdk.Provider):
    """One Pi-hole and the records in it that are ours."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._settings = Settings()
        self._gatherer: Gatherer | None = None

    async def get_schema(self, request: sdk.GetSchemaRequest) -> sdk.GetSchemaResponse:
        """Return what the resource looks like."""
        del request
        return sdk.GetSchemaResponse(json.dumps(resource.SCHEMA))

    async def configure(self, request: sdk.ConfigureRequest) -> sdk.ConfigureResponse:
        """Take the settings; nothing is asked of Pi-hole yet."""
        settings, cluster_id = provider_config.read(_plain(request.args))
        self._settings = settings
        self._gatherer = Gatherer(lambda owned: self._connect(settings, cluster_id, owned))
        return sdk.ConfigureResponse(accept_secrets=True, supports_preview=True)

    async def check(self, request: sdk.CheckRequest) -> sdk.CheckResponse:
        """Write inputs in their one spelling."""
        unknown = {key: value for key, value in request.new_inputs.items() if _is_unknown(value)}
        found, problems = resource.checked(_plain(request.new_inputs))
        return sdk.CheckResponse(
            inputs={**_values(found), **unknown},
            failures=[
                sdk.CheckFailure(name, reason) for name, reason in problems if name not in unknown
            ],
        )

    async def diff(self, request: sdk.DiffRequest) -> sdk.DiffResponse:
        """Say what differs: another address is an update, another name or family a replacement."""
        found = dict(resource.differences(_plain(request.old_state), _plain(request.new_inputs)))
        return sdk.DiffResponse(
            changes=bool(found),
            replaces=[name for name, replaces in found.items() if replaces],
            diffs=[*found],
            stables=["host"],
            detailed_diff={
                name: sdk.PropertyDiff(_KINDS[replaces], input_diff=True)
                for name, replaces in found.items()
            },
        )

    async def create(self, request: sdk.CreateRequest) -> sdk.CreateResponse:
        """Make a record, or find that it is there already."""
        if request.preview:
            return sdk.CreateResponse("", request.properties)
        edit = _edit(request.properties)
        await self._asked.apply(edit)
        return sdk.CreateResponse(record_id(edit), request.properties)

    async def read(self, request: sdk.ReadRequest) -> sdk.ReadResponse:
        """Return a record as it is; no id where it is not there."""
        key = resource.parsed(request.resource_id)
        self._own(key[0])
        found = resource.live(await self._asked.read(), key, _plain(request.properties).get("ip"))
        if found is None:
            return sdk.ReadResponse("")
        values = _values({"host": found.host, "ip": found.ip})
        return sdk.ReadResponse(request.resource_id, values, values)

    async def update(self, request: sdk.UpdateRequest) -> sdk.UpdateResponse:
        """Give a record another address."""
        if not request.preview:
            edit = _edit(request.news)
            self._own(edit.host)
            await self._asked.apply(edit)
        return sdk.UpdateResponse(request.news)

    async def delete(self, request: sdk.DeleteRequest) -> None:
        """Take a record away; that it is gone already is fine."""
        host, family = resource.parsed(request.resource_id)
        self._own(host)
        await self._asked.apply(RecordEdit(host, family, None))

    async def cancel(self) -> None:
        """End what is being done, and give the session back."""
        if self._gatherer:
            await self._gatherer.close()

    @property
    def _asked(self) -> Gatherer:
        if self._gatherer is None:
            raise PiholeError("the provider is not configured: the engine has not said for what")
        return self._gatherer

    def _own(self, host: str) -> None:
        """Take note of what the engine remembers, where Pi-hole has no room for a marker."""
        if self._settings.pihole_api is PiholeApi.DNS_LOCAL:
            self._asked.own(host)


def _edit(values: Mapping[str, PropertyValue]) -> RecordEdit:
    plain = _plain(values)
    host, ip = str(plain.get("host")), str(plain.get("ip"))
    return RecordEdit(host, Family.of(ip), ip)


def _plain(values: Mapping[str, PropertyValue]) -> dict[str, object]:
    return {key: value.value for key, value in values.items()}


def _values(plain: Mapping[str, object]) -> Values:
    return {key: PropertyValue(str(value)) for key, value in plain.items()}


def _is_unknown(value: PropertyValue) -> bool:
    return isinstance(value.value, Computed)
