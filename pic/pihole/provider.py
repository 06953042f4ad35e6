"""Implements the Pulumi provider of DNS records in a Pi-hole.

The provider reads the password from the environment when it needs its first session, and stores it
nowhere. A preview sends Pi-hole only the reads of a refresh or an import.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace

from pulumi.provider.experimental import provider as sdk
from pulumi.provider.experimental.property_value import PropertyValue

from pic.core.errors import PiholeError
from pic.core.model import Family, record_id
from pic.pihole import hosts_lines, provider_config, resource
from pic.pihole.batching import Batcher, Owned, Window
from pic.pihole.hosts_lines import Rules
from pic.pihole.protocol import Hosts, RecordEdit
from pic.provider import NOT_CONFIGURED, values
from pic.provider.values import Values, plain, wrapped
from pic.settings.parse import PiholeApi, Settings

# Opens a session with the settings and the cluster id that the engine configured.
OpenSession = Callable[[Settings, str, Owned], AbstractContextManager[Hosts]]


class Pihole(sdk.Provider):
    """The provider of our records in one Pi-hole."""

    def __init__(self, open_session: OpenSession, window: Window | None = None) -> None:
        self._open_session = open_session
        self._window = window
        self._settings = Settings()
        self._rules = Rules("")
        self._batcher: Batcher | None = None

    async def get_schema(self, request: sdk.GetSchemaRequest) -> sdk.GetSchemaResponse:
        """Return the schema of the resource."""
        del request
        return sdk.GetSchemaResponse(json.dumps(resource.SCHEMA))

    async def configure(self, request: sdk.ConfigureRequest) -> sdk.ConfigureResponse:
        """Store the settings; send nothing to Pi-hole yet."""
        settings, cluster_id = provider_config.read(plain(request.args))
        self._settings = settings
        if settings.pihole_api is PiholeApi.V6:
            self._rules = hosts_lines.rules_for(cluster_id, settings.stack_id)
        self._batcher = Batcher(
            lambda owned: self._open_session(settings, cluster_id, owned), self._window
        )
        return sdk.ConfigureResponse(accept_secrets=True, supports_preview=True)

    async def check(self, request: sdk.CheckRequest) -> sdk.CheckResponse:
        """Validate inputs and bring them into their normal form."""
        inputs, problems = resource.check_inputs(plain(request.new_inputs))
        return values.checked(request.new_inputs, inputs, problems)

    async def diff(self, request: sdk.DiffRequest) -> sdk.DiffResponse:
        """Compare: a new address is an update, a new name or family is a replacement."""
        old, new = plain(request.old_state), plain(request.new_inputs)
        return values.diffed(resource.differences(old, new), stable="host")

    async def create(self, request: sdk.CreateRequest) -> sdk.CreateResponse:
        """Create a record; an equal record that exists is fine."""
        if request.preview:
            return sdk.CreateResponse("", request.properties)
        # Unlike `update`, this does not own the host: another owner may have a record for it.
        edit = _edit(request.properties)
        await self._configured.apply(edit)
        return sdk.CreateResponse(record_id(edit), self._outputs(request.properties))

    async def read(self, request: sdk.ReadRequest) -> sdk.ReadResponse:
        """Return a record as Pi-hole has it; an empty id if the record does not exist.

        The engine calls this for a refresh and for an import.
        """
        key = resource.parse_id(request.resource_id)
        self._own(key[0])
        state_ip, legacy = plain(request.properties).get("ip"), self._is_legacy(request.properties)
        records = await self._configured.read()
        record = resource.find_live(records, key, state_ip, legacy=legacy)
        if record is None:
            return sdk.ReadResponse("")
        inputs = wrapped({"host": record.host, "ip": record.ip})
        outputs = inputs if record.legacy else self._outputs(inputs)
        return sdk.ReadResponse(request.resource_id, outputs, inputs)

    async def update(self, request: sdk.UpdateRequest) -> sdk.UpdateResponse:
        """Change the address of a record."""
        if request.preview:
            return sdk.UpdateResponse(request.news)
        edit = replace(_edit(request.news), legacy=self._is_legacy(request.olds))
        self._own(edit.host)
        await self._configured.apply(edit)
        return sdk.UpdateResponse(self._outputs(request.news))

    async def delete(self, request: sdk.DeleteRequest) -> None:
        """Delete a record; a record that does not exist is fine."""
        host, family = resource.parse_id(request.resource_id)
        self._own(host)
        legacy = self._is_legacy(request.properties)
        await self._configured.apply(RecordEdit(host, family, None, legacy))

    async def cancel(self) -> None:
        """Finish the current batch and end the session."""
        if self._batcher:
            await self._batcher.close()

    @property
    def _configured(self) -> Batcher:
        if self._batcher is None:
            raise PiholeError(NOT_CONFIGURED)
        return self._batcher

    def _outputs(self, inputs: Values) -> Values:
        """Return the outputs of a record whose line has the marker of the stack."""
        if self._rules.legacy is None:
            return inputs
        return {**inputs, **wrapped({resource.MARKER: self._rules.marker})}

    def _is_legacy(self, outputs: Values) -> bool:
        """Return whether the line of a record in the state may have the marker of earlier versions.

        Other stacks of the cluster have lines with that marker too, so the line proves nothing.
        """
        return resource.MARKER not in outputs

    def _own(self, host: str) -> None:
        """Note that the engine manages a host, for the interface that has no markers."""
        if self._settings.pihole_api is PiholeApi.DNS_LOCAL:
            self._configured.own(host)


def _edit(properties: Mapping[str, PropertyValue]) -> RecordEdit:
    record = plain(properties)
    host, ip = str(record.get("host")), str(record.get("ip"))
    return RecordEdit(host, Family.of(ip), ip)
