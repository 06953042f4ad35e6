"""The API of the simulated Pangolin: keys, lists, resources, and each trap that was measured."""

from collections.abc import Iterator

import pytest

from dev.pangolin_api import V1_15, V1_22, Pangolin
from tests.support.pangolin_api import HOST, Caller


@pytest.fixture
def server() -> Iterator[Pangolin]:
    with Pangolin() as server:
        yield server


@pytest.fixture
def new() -> Iterator[Pangolin]:
    with Pangolin(version=V1_22) as server:
        yield server


@pytest.fixture
def call(server: Pangolin) -> Caller:
    return Caller(server)


@pytest.mark.parametrize(
    ("key", "status", "message"),
    [
        ("", 401, "API key required"),
        ("wrong.secret", 401, "Invalid API key"),
        ("without-a-dot", 500, "An error occurred checking API key"),
    ],
)
def test_a_wrong_key_is_refused_and_a_malformed_one_looks_like_a_fault(
    server: Pangolin, key: str, status: int, message: str
) -> None:
    assert Caller(server, key)("GET", "/org/home/sites") == (status, message)


def test_the_probe_and_the_document_need_no_key(server: Pangolin) -> None:
    call = Caller(server, "")
    assert call.full("GET", "/") == (200, "application/json", {"message": "Healthy"})
    assert call.full("GET", "/openapi.json")[:2] == (200, "application/json")


def test_every_route_needs_its_action_and_the_answer_names_none(call: Caller) -> None:
    call.server.forbid("listSites")
    assert call("GET", "/org/home/sites") == (
        403,
        "Key does not have permission perform this action",
    )


def test_a_root_key_needs_actions_too(server: Pangolin) -> None:
    server.allow("root.secret", None, {"listOrgs"})
    assert Caller(server)("GET", "/orgs") == (403, "Key does not have root access")
    assert Caller(server, "root.secret")("GET", "/orgs") == (200, {"orgs": ["home"]})
    assert Caller(server, "root.secret")("GET", "/org/home/sites")[0] == 403


def test_a_key_of_an_organisation_reaches_no_other_one(server: Pangolin) -> None:
    server.store.org("other")
    server.allow("other.secret", "other")
    resource = Caller(server).create()
    other = Caller(server, "other.secret")
    refusal = (403, "Key does not have access to this organization")
    assert other("GET", "/org/home/sites") == refusal
    assert other("GET", f"/resource/{resource}") == refusal


def test_an_unknown_organisation_is_empty_for_a_root_key(server: Pangolin) -> None:
    server.allow("root.secret", None)
    status, data = Caller(server, "root.secret")("GET", "/org/nowhere/resources")
    assert (status, data["resources"]) == (200, [])


@pytest.mark.parametrize(
    "path", ["/nothing", "/resource/nice-id-of-1/x", "/resource/1/target/2", "/public-resource/1"]
)
def test_an_unknown_route_is_html(call: Caller, path: str) -> None:
    call.create()
    status, kind, page = call.full("DELETE", path)
    assert (status, kind) == (404, "text/html")
    assert f"Cannot DELETE /v1{path}" in page


def test_a_lost_resource_is_a_404_in_json(call: Caller) -> None:
    assert call.full("DELETE", "/resource/7") == (
        404,
        "application/json",
        {
            "data": None,
            "success": False,
            "error": True,
            "message": "Resource with ID 7 not found",
            "status": 404,
            "stack": None,
        },
    )


def test_a_new_resource_has_a_login(call: Caller) -> None:
    resource = call.create()
    row = call("GET", f"/resource/{resource}")[1]
    names = ("ssl", "sso", "blockAccess", "enabled", "fullDomain", "headers")
    assert {name: row[name] for name in names} == {
        "ssl": True,
        "sso": True,
        "blockAccess": False,
        "enabled": True,
        "fullDomain": HOST,
        "headers": [],
    }


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"sso": False}, 'Validation error: Unrecognized key: "sso"'),
        ({"sso": False, "a": 1}, 'Validation error: Unrecognized keys: "sso", "a"'),
        ({"mode": "http"}, 'Validation error: Unrecognized key: "mode"'),
        ({"name": ""}, 'Validation error: Invalid input at "name"'),
        (
            {"name": 1},
            'Validation error: Invalid input: expected string, received int at "name"',
        ),
        (
            {"domainId": None},
            'Validation error: Invalid input: expected string, received null at "domainId"',
        ),
        ({"subdomain": ""}, "Invalid subdomain"),
    ],
)
def test_bodies_are_strict(call: Caller, body: dict[str, object], message: str) -> None:
    full = {
        "name": "app",
        "http": True,
        "protocol": "tcp",
        "subdomain": "app",
        "domainId": call.server.domain_id,
    }
    assert call("PUT", "/org/home/resource", {**full, **body}) == (400, message)


def test_an_update_of_nothing_is_refused(call: Caller) -> None:
    resource = call.create()
    assert call("POST", f"/resource/{resource}", {}) == (
        400,
        "Validation error: At least one field must be provided for update",
    )


def test_a_host_exists_once_in_all_organisations(call: Caller) -> None:
    server = call.server
    server.store.org("other")
    server.allow("other.secret", "other")
    call.create()
    body = {"name": "steal", "http": True, "protocol": "tcp", "domainId": server.domain_id}
    taken = (409, "Resource with that domain already exists")
    other = Caller(server, "other.secret")
    assert other("PUT", "/org/other/resource", {**body, "subdomain": "APP"}) == taken
    # The domain is not of this organisation, and that is not checked.
    assert other("PUT", "/org/other/resource", {**body, "subdomain": "free"})[0] == 201


def test_the_host_of_the_dashboard_and_wildcards_are_refused(call: Caller) -> None:
    body = {"name": "a", "http": True, "protocol": "tcp", "domainId": call.server.domain_id}
    dashboard = call("PUT", "/org/home/resource", {**body, "subdomain": "pangolin"})
    wildcard = call("PUT", "/org/home/resource", {**body, "subdomain": "*"})
    assert (dashboard[0], wildcard[0]) == (409, 403)


def test_since_1_22_a_second_resource_of_a_host_is_accepted(new: Pangolin) -> None:
    call = Caller(new)
    assert call.create() != call.create()


def test_since_1_22_every_path_has_a_second_name(new: Pangolin) -> None:
    call = Caller(new)
    body = {"name": "app", "mode": "http", "subdomain": "app", "domainId": new.domain_id}
    resource = call("PUT", "/org/home/public-resource", body)[1]["resourceId"]
    assert call("GET", f"/public-resource/{resource}/targets")[0] == 200
    assert call("GET", "/org/home/public-resources")[1]["pagination"]["total"] == 1
    assert call("GET", "/org/home/resources?limit=5")[0] == 400


def test_since_1_22_a_health_check_needs_a_hostname(new: Pangolin) -> None:
    call = Caller(new)
    path = f"/resource/{call.create()}/target"
    body = {"siteId": 1, "ip": "10.0.0.1", "port": 80, "hcEnabled": True}
    assert call("PUT", path, body)[0] == 400
    assert call("PUT", path, {**body, "hcHostname": "10.0.0.1", "mode": "http"})[0] == 201


def test_lists_have_pages_of_20_and_rubbish_is_a_silent_default(call: Caller) -> None:
    for index in range(25):
        call.create(f"app-{index:02}")
    sizes = []
    for query in ("", "?pageSize=x&page=-1", "?limit=1000&offset=3", "?pageSize=1000", "?page=2"):
        data = call("GET", f"/org/home/resources{query}")[1]
        sizes.append((len(data["resources"]), data["pagination"]["total"]))
    assert sizes == [(20, 25), (20, 25), (20, 25), (25, 25), (5, 25)]


def test_before_1_16_limit_and_offset_were_the_paging() -> None:
    with Pangolin(version=V1_15) as server:
        call = Caller(server)
        for index in range(3):
            call.create(f"app-{index}")
        data = call("GET", "/org/home/resources?limit=2&offset=2&pageSize=1")[1]
    assert len(data["resources"]) == 1


def test_a_list_can_be_searched_and_has_little_of_a_target(call: Caller) -> None:
    resource = call.create()
    call.create("other")
    target = call.target(resource, path="/x", pathMatchType="prefix")
    rows = call("GET", "/org/home/resources?query=APP.exa")[1]["resources"]
    assert [row["targets"] for row in rows] == [
        [
            {
                "targetId": target,
                "siteId": call.server.site_id,
                "ip": "10.0.0.1",
                "port": 80,
                "enabled": True,
                "healthStatus": "unknown",
            }
        ]
    ]
    assert "blockAccess" not in rows[0]


def test_a_subdomain_without_its_domain_does_not_move_the_host(call: Caller) -> None:
    resource = call.create()
    path = f"/resource/{resource}"
    assert call("POST", path, {"subdomain": "new"})[1]["fullDomain"] == HOST
    body = {"subdomain": "new", "domainId": call.server.domain_id}
    assert call("POST", path, body)[1]["fullDomain"] == "new.example.com"


def test_a_nice_id_is_unique_and_restricted(call: Caller) -> None:
    first, second = call.create(), call.create("other")
    assert call("POST", f"/resource/{first}", {"niceId": "pic-a"})[0] == 200
    assert call("POST", f"/resource/{second}", {"niceId": "pic-a"})[0] == 409
    assert call("POST", f"/resource/{second}", {"niceId": "pic_a"})[0] == 400


def test_a_create_without_an_admin_role_leaves_the_resource(call: Caller) -> None:
    call.server.store.roles.clear()
    body = {"name": "a", "http": True, "protocol": "tcp", "domainId": call.server.domain_id}
    assert call("PUT", "/org/home/resource", {**body, "subdomain": "app"})[0] == 404
    assert [row["fullDomain"] for row in call.server.store.resources.values()] == [HOST]


def test_a_delete_removes_all_and_the_second_one_finds_nothing(call: Caller) -> None:
    resource = call.create()
    call.target(resource)
    assert call("DELETE", f"/resource/{resource}") == (200, None)
    assert (call.server.store.targets, call.server.routes) == ({}, ())
    assert call("DELETE", f"/resource/{resource}")[0] == 404


def test_an_id_is_never_used_again(call: Caller) -> None:
    first = call.create()
    call("DELETE", f"/resource/{first}")
    assert call.create() == first + 1


def test_a_health_check_that_is_not_sent_is_switched_off(call: Caller) -> None:
    target = call.target(call.create(), hcEnabled=True, hcPath="/up", priority=7)
    row = call.server.store.targets[target]
    port = row["internalPort"]
    assert row["hcHealth"] == "unhealthy"
    call.server.report_health("healthy")
    body = {"siteId": call.server.site_id, "ip": "10.0.0.1"}
    assert call("POST", f"/target/{target}", body)[0] == 200
    names = ("hcEnabled", "hcHealth", "hcPath", "priority")
    assert [row[name] for name in names] == [False, "unknown", "/up", 7]
    assert row["internalPort"] != port


def test_an_update_of_a_target_needs_site_and_address(call: Caller) -> None:
    target = call.target(call.create())
    assert call("POST", f"/target/{target}", {"ip": "10.0.0.2"})[0] == 400


def test_no_match_type_clears_the_rewrite_and_no_path_only_the_path(call: Caller) -> None:
    target = call.target(
        call.create(), path="/x", pathMatchType="prefix", rewritePath="/", priority=None
    )
    row = call.server.store.targets[target]
    assert row["priority"] == 100
    body = {"siteId": call.server.site_id, "ip": "10.0.0.1"}
    call("POST", f"/target/{target}", {**body, "path": None})
    assert (row["path"], row["rewritePath"]) == (None, "/")
    call("POST", f"/target/{target}", {**body, "pathMatchType": None})
    assert row["rewritePath"] is None


def test_two_equal_targets_are_accepted(call: Caller) -> None:
    resource = call.create()
    assert call.target(resource) != call.target(resource)


def test_a_target_may_name_a_site_of_another_organisation(call: Caller) -> None:
    site = call.server.store.site("other", "Theirs")
    assert call.target(call.create(), siteId=site)
    path = f"/resource/{call.create('b')}/target"
    assert call("PUT", path, {"siteId": 99, "ip": "10.0.0.1", "port": 1})[0] == 404


def test_rules_need_their_priority_in_an_update(call: Caller) -> None:
    path = f"/resource/{call.create()}/rule"
    body = {"action": "DROP", "match": "IP", "value": "192.0.2.1", "priority": 1}
    status, row = call("PUT", path, body)
    assert (status, row["enabled"]) == (201, True)
    assert call("PUT", path, body)[0] == 201
    assert call("PUT", path, {**body, "value": "x"}) == (400, "Invalid IP provided")
    assert call("POST", f"{path}/{row['ruleId']}", {"value": "192.0.2.2"})[0] == 400
    assert call("POST", f"{path}/{row['ruleId']}", {"action": "PASS", "priority": 1})[0] == 200
    assert call("DELETE", f"{path}/{row['ruleId']}")[0] == 200
    assert call("DELETE", f"{path}/{row['ruleId']}")[0] == 404
    assert len(call("GET", f"{path}s")[1]["rules"]) == 1


def test_roles_are_replaced_but_the_admin_role_stays(call: Caller) -> None:
    path = f"/resource/{call.create()}/roles"
    assert call("POST", path, {"roleIds": [1]})[0] == 400
    assert call("POST", path, {"roleIds": [9]})[0] == 404
    assert call("POST", path, {"roleIds": [2]})[0] == 201
    assert [role["name"] for role in call("GET", path)[1]["roles"]] == ["Admin", "Member"]


def test_an_unknown_user_stops_the_replacement_half_way(call: Caller) -> None:
    first, second = (call.server.store.user("home", f"{name}@example.com") for name in "ab")
    path = f"/resource/{call.create()}/users"
    call("POST", path, {"userIds": [first]})
    assert call("POST", path, {"userIds": [second, "nobody"]}) == (500, "An error occurred")
    assert [user["email"] for user in call("GET", path)[1]["users"]] == ["b@example.com"]


def test_a_whitelist_is_only_set_while_it_is_on(call: Caller) -> None:
    resource = call.create()
    path = f"/resource/{resource}/whitelist"
    assert call("POST", path, {"emails": ["A@example.com"]})[0] == 400
    call("POST", f"/resource/{resource}", {"emailWhitelistEnabled": True})
    assert call("POST", path, {"emails": ["A@example.com"]})[0] == 201
    assert call("POST", path, {"emails": ["a*@example.com"]})[0] == 400
    assert call("GET", path)[1] == {"whitelist": [{"email": "a@example.com"}]}


def test_an_organisation_lists_its_own_domains_roles_and_users(call: Caller) -> None:
    call.server.store.org("other")
    call.server.store.domain("other", "example.org")
    call.server.store.user("home", "a@example.com")
    domains = call("GET", "/org/home/domains")[1]["domains"]
    roles = call("GET", "/org/home/roles")[1]["roles"]
    users = call("GET", "/org/home/users")[1]["users"]
    assert [row["baseDomain"] for row in domains] == ["example.com"]
    assert [row["name"] for row in roles] == ["Admin", "Member"]
    assert [row["email"] for row in users] == ["a@example.com"]
    assert call("GET", "/org/home/domains?limit=0")[0] == 400
