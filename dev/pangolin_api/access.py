"""Answers for the rules, roles, users and the whitelist of a resource."""

import re
from ipaddress import ip_address, ip_network

from dev.pangolin_api import schema
from dev.pangolin_api.listing import offset_page
from dev.pangolin_api.messages import Answer, Refusal, Request, Row, success
from dev.pangolin_api.store import Store

_EMAIL = re.compile(r"(\*|[^@\s*]+)@[\w.-]+\.[a-zA-Z]{2,}")


class Access:
    """The handlers of who may pass."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def rules(self, name: str, request: Request) -> Answer:
        """List the rules by priority."""
        rows = [row for row in self._store.rules.values() if row["resourceId"] == int(name)]
        return offset_page("rules", sorted(rows, key=lambda row: row["priority"]), request.query)

    def create_rule(self, name: str, request: Request) -> Answer:
        """Create a rule; it has no effect until applyRules is set."""
        body = schema.check(request.json, schema.RULE)
        _check_value(body)
        number = self._store.next_id("rule")
        row = {"ruleId": number, "resourceId": int(name), "enabled": True, **body}
        self._store.rules[number] = row
        return success(row, "Resource rule created successfully", 201)

    def update_rule(self, name: str, request: Request) -> Answer:
        """Update a rule; the priority must always be sent."""
        row = self._rule(name, request)
        body = schema.check(request.json, schema.RULE_UPDATE)
        _check_value({**row, **body})
        row.update(body)
        return success(row, "Resource rule updated successfully")

    def delete_rule(self, name: str, request: Request) -> Answer:
        """Delete a rule."""
        del self._store.rules[self._rule(name, request)["ruleId"]]
        return success(None, "Resource rule deleted successfully")

    def _rule(self, name: str, request: Request) -> Row:
        text = request.path.rpartition("/")[2]
        row = self._store.rules.get(int(text)) if text.isdigit() else None
        if row is None or row["resourceId"] != int(name):
            raise Refusal(404, f"Resource rule with ID {text} not found")
        return row

    def roles(self, name: str, _: Request) -> Answer:
        """List the roles, with the one of administrators."""
        ids = [role for role, resource in self._store.role_resources if resource == int(name)]
        fields = ("roleId", "name", "description", "isAdmin")
        rows = [{field: self._store.roles[role][field] for field in fields} for role in ids]
        return success({"roles": rows}, "Resource roles retrieved successfully")

    def set_roles(self, name: str, request: Request) -> Answer:
        """Replace all roles but the one of administrators, which cannot be named."""
        roles = schema.check(request.json, schema.ROLES)["roleIds"]
        rows = [self._store.roles.get(role) for role in roles]
        org = self._store.resources[int(name)]["orgId"]
        if any(row is None or row["orgId"] != org for row in rows):
            raise Refusal(404, "One or more roles not found")
        if any(row is not None and row["isAdmin"] for row in rows):
            raise Refusal(400, "Admin role cannot be assigned to resources")
        admins = {role for role, row in self._store.roles.items() if row["isAdmin"]}
        self._store.role_resources = [
            pair for pair in self._store.role_resources if pair[1] != int(name) or pair[0] in admins
        ] + [(role, int(name)) for role in roles]
        return success({}, "Roles set for resource successfully", 201)

    def users(self, name: str, _: Request) -> Answer:
        """List the users."""
        ids = [user for user, resource in self._store.user_resources if resource == int(name)]
        fields = ("email", "username", "type")
        rows = [
            {"userId": user, **{field: self._store.users[user][field] for field in fields}}
            for user in ids
        ]
        return success({"users": rows}, "Resource users retrieved successfully")

    def set_users(self, name: str, request: Request) -> Answer:
        """Replace all users; a user that does not exist stops it half-way, as on SQLite."""
        users = schema.check(request.json, schema.USERS)["userIds"]
        pairs = self._store.user_resources
        self._store.user_resources = [pair for pair in pairs if pair[1] != int(name)]
        for user in users:
            if user not in self._store.users:
                raise Refusal(500, "An error occurred")
            self._store.user_resources.append((user, int(name)))
        return success({}, "Users set for resource successfully", 201)

    def whitelist(self, name: str, _: Request) -> Answer:
        """List the emails, also while the whitelist is off."""
        emails = [email for email, resource in self._store.whitelist if resource == int(name)]
        data = {"whitelist": [{"email": email} for email in emails]}
        return success(data, "Resource whitelist retrieved successfully")

    def set_whitelist(self, name: str, request: Request) -> Answer:
        """Replace the emails, while the whitelist is on."""
        emails = schema.check(request.json, schema.WHITELIST)["emails"]
        if not all(isinstance(email, str) and _EMAIL.fullmatch(email) for email in emails):
            raise Refusal(400, "Validation error: Invalid email address")
        if not self._store.resources[int(name)]["emailWhitelistEnabled"]:
            raise Refusal(400, "Email whitelist is not enabled for this resource")
        others = [pair for pair in self._store.whitelist if pair[1] != int(name)]
        self._store.whitelist = others + [(email.lower(), int(name)) for email in emails]
        return success({}, "Whitelist set for resource successfully", 201)


def _check_value(rule: Row) -> None:
    try:
        match rule["match"]:
            case "CIDR":
                ip_network(rule["value"], strict=False)
            case "IP":
                ip_address(rule["value"])
            case "PATH" if not re.fullmatch(r"[-\w.~/%*?&=+!$'(),;:@]+", rule["value"]):
                raise Refusal(400, "Invalid URL glob pattern provided")
            case _:
                pass
    except ValueError:
        raise Refusal(400, f"Invalid {rule['match']} provided") from None
