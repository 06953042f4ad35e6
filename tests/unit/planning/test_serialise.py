"""Tests the JSON of a plan and of an object."""

from pic.core.model import HttpConfig, Owner, Plan, Record, Resource, Spec, Target, TunnelRef
from pic.core.notices import Notice, Reason, Ref
from pic.planning import serialise

WEB = Owner("prod", "web", "uid-1")
FULL = Target("a", 80, "http", "/x", "exact", 107)


def test_the_plan_has_the_shape_of_its_version() -> None:
    spec = Spec(
        enabled=True,
        name="app.example.com",
        protocol="http",
        tunnel=TunnelRef("edge", "net"),
        http=HttpConfig("example.com", "app", sso=False, block_access=True),
        targets=(FULL, Target("b", 81)),
    )
    plan = Plan(
        (Resource("app.example.com", "prod", "x", (WEB,), {"b": "2", "a": "1"}, spec, held=True),),
        (Record("nas", "192.0.2.1", (WEB,)),),
        (Notice(Reason.BLOCK_ACCESS, Ref("Ingress", "prod", "web"), "blocked"),),
    )

    assert serialise.plan(plan) == {
        "version": 1,
        "resources": [
            {
                "host": "app.example.com",
                "namespace": "prod",
                "name": "x",
                "owners": [{"namespace": "prod", "name": "web"}],
                "held": True,
                "labels": {"a": "1", "b": "2"},
                "spec": {
                    "enabled": True,
                    "name": "app.example.com",
                    "protocol": "http",
                    "tunnelRef": {"name": "edge", "namespace": "net"},
                    "httpConfig": {
                        "domainName": "example.com",
                        "subdomain": "app",
                        "sso": False,
                        "blockAccess": True,
                    },
                    "targets": [
                        {
                            "ip": "a",
                            "port": 80,
                            "method": "http",
                            "path": "/x",
                            "pathMatchType": "exact",
                            "priority": 107,
                        },
                        {"ip": "b", "port": 81},
                    ],
                },
            }
        ],
        "records": [
            {"host": "nas", "ip": "192.0.2.1", "owners": [{"namespace": "prod", "name": "web"}]}
        ],
        "notices": [
            {
                "level": "Normal",
                "reason": "BlockAccess",
                "object": {"kind": "Ingress", "namespace": "prod", "name": "web"},
                "host": None,
                "message": "blocked",
            }
        ],
    }


def test_absent_fields_are_left_out() -> None:
    assert serialise.spec(Spec()) == {}
    assert serialise.spec(Spec(single=True)) == {}
    assert serialise.spec(Spec(enabled=False, tunnel=TunnelRef("edge"))) == {
        "enabled": False,
        "tunnelRef": {"name": "edge"},
    }


def test_the_older_crd_gets_a_single_target() -> None:
    assert serialise.spec(Spec(targets=(Target("b", 81),), single=True)) == {
        "target": {"ip": "b", "port": 81}
    }
