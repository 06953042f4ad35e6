"""Creates, lists, updates and deletes targets, with the traps of each."""

from ipaddress import ip_address, ip_network

from dev.pangolin_api import schema
from dev.pangolin_api.listing import offset_page
from dev.pangolin_api.messages import Answer, Refusal, Request, Row, success
from dev.pangolin_api.schema import V1_22, Version
from dev.pangolin_api.store import Store


class Targets:
    """The handlers of targets. No check compares the organisation of a site with the resource."""

    def __init__(self, store: Store, version: Version) -> None:
        self._store = store
        self._version = version

    def list(self, name: str, request: Request) -> Answer:
        """List all fields but the internal port."""
        rows = [
            {**{key: value for key, value in row.items() if key != "internalPort"}, **self._of(row)}
            for row in self._store.targets_of(int(name))
        ]
        return offset_page("targets", rows, request.query)

    def _of(self, row: Row) -> Row:
        site = self._store.sites.get(row["siteId"])
        return {"siteType": site["type"] if site else None}

    def create(self, name: str, request: Request) -> Answer:
        """Create a target; one that equals another is accepted, and counts twice."""
        fields = schema.target_fields(self._version, update=False)
        body = self._checked(request, fields)
        site = self._site(body)
        if site["type"] == "wireguard" and not _is_inside(body["ip"], site["subnet"]):
            raise Refusal(400, "Target IP is not within the site subnet")
        number = self._store.next_id("target")
        row: Row = {
            "targetId": number,
            "resourceId": int(name),
            **{field: body.get(field) for field in fields},
            "enabled": body.get("enabled", True),
            "priority": body.get("priority") or 100,
            "hcEnabled": body.get("hcEnabled") or False,
            "hcHealth": "unhealthy" if body.get("hcEnabled") else "unknown",
            "internalPort": self._store.port(),
        }
        self._store.targets[number] = row
        return success(row, "Target created successfully", 201)

    def update(self, name: str, request: Request) -> Answer:
        """Update a target; a health check that is not sent is switched off."""
        row = self._store.targets[int(name)]
        body = self._checked(request, schema.target_fields(self._version, update=True))
        site = self._site(body)
        was_checked = row["hcEnabled"]
        row.update(body)
        if "pathMatchType" in body and body["pathMatchType"] is None:
            row["rewritePath"] = row["rewritePathType"] = None
        row["hcEnabled"] = body.get("hcEnabled") or False
        row["hcHeaders"] = body.get("hcHeaders")
        row["internalPort"] = self._store.port()
        if not row["hcEnabled"] or site["type"] != "newt":
            row["hcHealth"] = "unknown"
        elif not was_checked:
            row["hcHealth"] = "unhealthy"
        return success(row, "Target updated successfully")

    def delete(self, name: str, _: Request) -> Answer:
        """Delete a target."""
        del self._store.targets[int(name)]
        return success(None, "Target deleted successfully")

    def _checked(self, request: Request, fields: schema.Fields) -> Row:
        body = schema.check(request.json, fields)
        if self._version >= V1_22 and body.get("hcEnabled") and not body.get("hcHostname"):
            raise Refusal(400, "Validation error: hcHostname is required when hcEnabled is true")
        return body

    def _site(self, body: Row) -> Row:
        site = self._store.sites.get(body["siteId"])
        if site is None:
            raise Refusal(404, f"Site with ID {body['siteId']} not found")
        return site


def _is_inside(ip: str, subnet: str) -> bool:
    try:
        return ip_address(ip) in ip_network(subnet, strict=False)
    except ValueError:
        return False
