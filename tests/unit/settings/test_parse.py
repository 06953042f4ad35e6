"""Tests which settings a stack and the environment give together."""

from collections.abc import Mapping
from datetime import timedelta

import pytest

from pic.core.errors import SettingsError
from pic.core.notices import Notice, Reason, Ref
from pic.settings.fields import FIELDS
from pic.settings.parse import (
    ForeignProtection,
    LogLevel,
    PathRouting,
    PiholeApi,
    ResourceSchema,
    Settings,
    TakeOver,
    TargetName,
    Tenants,
    Unpublish,
    parse,
)

WHOLE_NUMBER = "a whole number from 0 to 999999999"
BOOLEAN = "true or false (also yes, no, on, off, 1, 0)"
NAMESPACES = "namespace names, as a list or separated by commas"
DURATION = "a duration from 1s to 720h, such as 30s, 5m or 1h30m, or a number of seconds"


def settings(
    values: Mapping[str, object], environment: Mapping[str, str] | None = None
) -> Settings:
    parsed, notices = parse(values, environment or {})
    assert notices == ()
    return parsed


def problems(
    values: Mapping[str, object], environment: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        parse(values, environment or {})
    return caught.value.problems


def is_refused(key: str, value: object) -> bool:
    return problems({key: value})[0].startswith(f"pic:{key} is ")


def difference(key: str, message: str) -> Notice:
    return Notice(Reason.SETTING_DIFFERS, Ref("Setting", "", key), message)


def test_nothing_set_gives_the_defaults() -> None:
    assert parse({}, {}) == (Settings(), ())


def test_a_null_in_a_stack_file_counts_as_not_set() -> None:
    assert settings({row.key: None for row in FIELDS}) == Settings()


@pytest.mark.parametrize("value", ["off", "OFF", False, "false"])
def test_the_word_off_may_be_what_yaml_makes_of_it(value: object) -> None:
    assert settings({"unpublish": value}).unpublish is Unpublish.OFF
    assert is_refused("unpublish", "yes")


def test_every_setting_can_be_written_as_text() -> None:
    values = {
        "ingressClasses": "pangolin, edge-*",
        "namespaces": "prod\ndev",
        "defaultTunnel": "site.eu",
        "tunnelClassMapping": "eu=site-eu\n us = site-us",
        "tunnelNamespace": "tunnels",
        "tunnelNamespaces": "a, ., b",
        "backendScheme": "HTTPS",
        "clusterDomain": "K8s.Lab.",
        "domains": "Example.COM., xn--bcher-kva.example",
        "hostPolicy": '{"prod": ["*.Example.com", "app.example.org"], "dev": "*"}',
        "allowExternalName": "Yes",
        "resourceSchema": "target",
        "pathRouting": "trusted",
        "foreignProtection": "hold",
        "operatorLimit": "0",
        "tenants": "One",
        "registerNamespace": "pic",
        "stackId": "0123456789abcdef",
        "maxRemovals": "0",
        "maxRemovalRatio": ".5",
        "removalWindow": "2h",
        "ephemeral": "preview-*, pr-?",
        "maxWeakened": "3",
        "maxMoves": "2",
        "moveAfter": "0",
        "maxRetargeted": "4",
        "acknowledge": "3f1c9a",
        "clusterId": "2f0c1b9a-7a53-4a6e-9c0d-6d1a1f2e3b4c",
        "adopt": "on",
        "adoptFrom": "pic.old",
        "context": "kubernetes-admin@lab",
        "kubeconfig": "~/.kube/lab config",
        "events": "off",
        "targets": "pihole,pangolin",
        "resyncPeriod": "1h30m",
        "logLevel": "Debug",
        "ownerReferences": "0",
        "unpublish": "Block",
        "lockTimeout": "90",
        "keepHistory": "7",
        "pangolinUrl": "https://api.example.com/v1",
        "pangolinOrg": "home",
        "pangolinCa": "/etc/pangolin ca.crt",
        "piholeUrl": "https://pihole.lan:8443/admin/",
        "piholeTargetIp": "192.168.1.10",
        "piholeAllowAddresses": "127.0.0.1, 169.254.0.0/16",
        "piholeApi": "dns-local",
        "piholeTakeOver": "1",
        "piholeAnnotate": "FALSE",
        "piholeCa": "/etc/pihole ca.crt",
        "piholeServerName": "Pi.Hole.",
        "piholeInsecure": "on",
    }

    assert values.keys() == {row.key for row in FIELDS}
    assert settings(values) == Settings(
        ingress_classes=("pangolin", "edge-*"),
        namespaces=("prod", "dev"),
        default_tunnel="site.eu",
        tunnel_class_mapping={"eu": "site-eu", "us": "site-us"},
        tunnel_namespace="tunnels",
        tunnel_namespaces=("a", ".", "b"),
        backend_scheme="https",
        cluster_domain="k8s.lab",
        domains=("example.com", "xn--bcher-kva.example"),
        host_policy={"prod": ("*.example.com", "app.example.org"), "dev": ("*",)},
        allow_external_name=True,
        resource_schema=ResourceSchema.TARGET,
        path_routing=PathRouting.TRUSTED,
        foreign_protection=ForeignProtection.HOLD,
        operator_limit=0,
        tenants=Tenants.ONE,
        register_namespace="pic",
        stack_id="0123456789abcdef",
        max_removals=0,
        max_removal_ratio=0.5,
        removal_window=timedelta(hours=2),
        ephemeral=("preview-*", "pr-?"),
        max_weakened=3,
        max_moves=2,
        move_after=timedelta(0),
        max_retargeted=4,
        acknowledge="3f1c9a",
        cluster_id="2f0c1b9a-7a53-4a6e-9c0d-6d1a1f2e3b4c",
        adopt=True,
        adopt_from="pic.old",
        context="kubernetes-admin@lab",
        kubeconfig="~/.kube/lab config",
        events=False,
        targets=(TargetName.PIHOLE, TargetName.PANGOLIN),
        resync_period=timedelta(minutes=90),
        log_level=LogLevel.DEBUG,
        owner_references=False,
        unpublish=Unpublish.BLOCK,
        lock_timeout=timedelta(seconds=90),
        keep_history=7,
        pangolin_url="https://api.example.com/v1",
        pangolin_org="home",
        pangolin_ca="/etc/pangolin ca.crt",
        pihole_url="https://pihole.lan:8443/admin",
        pihole_target_ip="192.168.1.10",
        pihole_api=PiholeApi.DNS_LOCAL,
        pihole_allow_addresses=("127.0.0.1/32", "169.254.0.0/16"),
        pihole_take_over=TakeOver.ALL,
        pihole_annotate=False,
        pihole_ca="/etc/pihole ca.crt",
        pihole_server_name="pi.hole",
        pihole_insecure=True,
    )


def test_settings_can_be_yaml_values() -> None:
    values: dict[str, object] = {
        "ingressClasses": ["pangolin", ""],
        "namespaces": ["prod", 42, "prod"],
        "tunnelClassMapping": {"eu": "site-eu", 1: 2},
        "hostPolicy": {},
        "events": False,
        "maxRemovals": 5.0,
        "maxWeakened": 0,
        "maxRemovalRatio": 1,
        "lockTimeout": 2.5,
        "context": 7,
    }

    assert settings(values) == Settings(
        ingress_classes=("pangolin", ""),
        namespaces=("prod", "42"),
        tunnel_class_mapping={"eu": "site-eu", "1": "2"},
        host_policy={},
        events=False,
        max_removals=5,
        max_weakened=0,
        max_removal_ratio=1.0,
        lock_timeout=timedelta(seconds=2.5),
        context="7",
    )


def test_a_map_can_be_json_or_pairs_with_commas() -> None:
    expected = Settings(tunnel_class_mapping={"eu": "site-eu", "us": "site-us"})

    assert settings({"tunnelClassMapping": '{"eu": "site-eu", "us": "site-us"}'}) == expected
    assert settings({"tunnelClassMapping": "eu=site-eu,us=site-us,"}) == expected


def test_empty_text_counts_as_not_set_where_that_is_possible() -> None:
    keys = ("tunnelNamespace", "maxWeakened", "acknowledge", "clusterId", "adoptFrom")
    more = ("piholeUrl", "piholeTargetIp", "namespaces", "domains", "tunnelClassMapping")
    trust = ("piholeCa", "piholeServerName")

    assert settings(dict.fromkeys((*keys, *more, *trust), " ")) == Settings()


def test_an_operator_and_pangolin_itself_are_not_both_a_target() -> None:
    assert problems({"targets": ["pangolin", "pangolin-api"]}) == (
        "pic:targets has both pangolin and pangolin-api, but two of them would expose each host"
        " twice: list pangolin for the objects of an operator, or pangolin-api to change Pangolin"
        " itself",
    )
    alone = settings({"targets": "pangolin-api,pihole"})
    assert (alone.publishes, alone.exposes) == (True, True)


@pytest.mark.parametrize(
    ("key", "variable"),
    [("pangolinApiKey", "PANGOLIN_API_KEY"), ("piholePassword", "PIHOLE_PASSWORD")],
)
def test_a_credential_in_the_stack_is_refused_with_its_variable(key: str, variable: str) -> None:
    assert problems({key: "hidden.secret"}) == (
        f"pic:{key} is no setting, since the stack file would show the secret to everyone: remove"
        f" it, create another secret, and set {variable} in the environment",
    )


def test_every_problem_is_reported_at_once() -> None:
    values: dict[str, object] = {
        "clusterDomain": "not a domain",
        "backendScheme": "gopher",
        "maxRemovals": True,
        "namespaces": ["prod", "Dev"],
        "ingressClass": "pangolin",
        "password": "hunter2",
    }

    assert problems(values, {"PIC_RESYNC_PERIOD": "often"}) == (
        "unknown setting pic:ingressClass; did you mean pic:ingressClasses?",
        "unknown setting pic:password",
        f"pic:namespaces is ['prod', 'Dev'] ('Dev' is not allowed); allowed: {NAMESPACES}",
        "pic:backendScheme is 'gopher'; allowed: http or https",
        "pic:clusterDomain is 'not a domain'; allowed: a DNS name such as cluster.local",
        f"pic:maxRemovals is True; allowed: {WHOLE_NUMBER}",
        f"pic:resyncPeriod (from PIC_RESYNC_PERIOD) is 'often'; allowed: {DURATION}",
    )


@pytest.mark.parametrize(
    ("key", "nearest"),
    [
        ("ingress_classes", "ingressClasses"),
        ("Namespaces", "namespaces"),
        ("pic:events", "events"),
        ("piholeTargetIP", "piholeTargetIp"),
    ],
)
def test_the_error_for_an_unknown_key_suggests_the_nearest(key: str, nearest: str) -> None:
    assert problems({key: "x"}) == (f"unknown setting pic:{key}; did you mean pic:{nearest}?",)


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("ingressClasses", ["", [], ["a b"], {"a": "b"}, [None], "[1"]),
        ("namespaces", ["Prod", "a.b", "-a", "a" * 64, [["a"]], True]),
        ("defaultTunnel", ["", "a/b", "a..b", [], 1.5, True]),
        ("tunnelClassMapping", ["eu", "eu=", "=x", "a=b,a=c", '{"a":"b","a":"c"}', "{", ["a"]]),
        ("tunnelNamespace", ["a/b", "tunnels.eu", "."]),
        ("tunnelNamespaces", ["..", "a.", [""], [1.5], {"a": "b"}]),
        ("clusterDomain", ["", "*.local", ".", "a_b", "10.0.0.1", f"{'a.' * 127}a"]),
        ("domains", ["*.example.com", "bücher.example", "example.com:80"]),
        (
            "hostPolicy",
            ["", "prod", "[]", {"Prod": []}, {"prod": "a b"}, {"prod": 1.5}, '{"a":NaN}'],
        ),
        ("allowExternalName", ["maybe", "", 2, 1.0, []]),
        ("maxRemovals", [True, -1, "-1", 5.5, "5.5", "many", 10**9, float("nan"), "٣", ""]),
        ("maxRemovalRatio", [True, -0.1, 1.1, "20%", float("nan"), float("inf"), "1e-3"]),
        ("maxWeakened", [False, -1, "none"]),
        ("piholeAllowAddresses", ["localhost", "10.0.0.5/24", ["127.0.0.1", "x"], True]),
        ("piholeTakeOver", ["maybe", "", 2, ["pic"]]),
        ("acknowledge", ["3F1C9A", "xyz", 10**12, 1e10]),
        ("clusterId", ["a b", "-", "a" * 65]),
        ("adoptFrom", ["a b", "-"]),
        ("context", ["a\nb", "\x1b[0m", []]),
        ("targets", ["", "dns", [1]]),
        ("resyncPeriod", ["0", "-5m", "5 m", "5d", True, 0.5, float("inf"), "721h", "500ms", ""]),
        ("logLevel", ["loud", 1]),
        (
            "piholeUrl",
            ["pihole.lan", "ftp://a", "http://", "http://[::1", "http://a:x", "http://a b"],
        ),
        ("piholeTargetIp", ["::1", "10.0.0", "10.0.0.256", "010.0.0.1", 10]),
    ],
)
def test_a_value_that_is_not_allowed_is_refused(key: str, values: list[object]) -> None:
    assert [value for value in values if not is_refused(key, value)] == []


def test_the_error_names_the_part_of_a_map_that_is_wrong() -> None:
    allowed = (
        "a map from class suffix to tunnel name, or suffix=tunnel pairs, one per line or"
        " separated by commas"
    )
    twice = {"eu": "site-eu", " eu": "x"}

    assert problems({"tunnelClassMapping": "eu=site-eu\nus"}) == (
        rf"pic:tunnelClassMapping is 'eu=site-eu\nus' ('us' has no =); allowed: {allowed}",
    )
    assert problems({"tunnelClassMapping": twice}) == (
        f"pic:tunnelClassMapping is {twice} ('eu' occurs twice); allowed: {allowed}",
    )


def test_the_error_shortens_a_long_value() -> None:
    shown = "'" + "x" * 78 + "…"

    assert problems({"events": "x" * 200}) == (f"pic:events is {shown}; allowed: {BOOLEAN}",)


def test_a_value_that_python_cannot_print_gets_the_usual_error() -> None:
    assert problems({"keepHistory": 10**5000}) == (
        f"pic:keepHistory is a value that is too large to show; allowed: {WHOLE_NUMBER}",
    )


@pytest.mark.parametrize(
    "url", ["https://me:hunter2@pihole.lan", "me:hunter2@pihole", "http://pihole.lan/?auth=hunter2"]
)
def test_a_url_with_a_password_is_refused_and_never_shown(url: str) -> None:
    hidden = (
        "is hidden because it may contain a password; "
        "allowed: an http or https URL without user, password and query"
    )
    unread = difference(
        "piholeUrl", "PIHOLE_URL has an invalid value: pic ignores it and uses pic:piholeUrl"
    )

    assert problems({"piholeUrl": url}) == (f"pic:piholeUrl {hidden}",)
    assert problems({}, {"PIHOLE_URL": url}) == (f"pic:piholeUrl (from PIHOLE_URL) {hidden}",)
    assert parse({"piholeUrl": "http://pihole.lan"}, {"PIHOLE_URL": url})[1] == (unread,)


def test_variables_supply_what_the_stack_does_not_set() -> None:
    environment = {
        "PIC_DEFAULT_TUNNEL_NAME": "site",
        "PIC_TUNNEL_CLASS_MAPPING": "eu=site-eu\nus=site-us",
        "PIC_BACKEND_SCHEME": "https",
        "PIC_RESYNC_PERIOD": "30s",
        "PIC_LOG_LEVEL": "warn",
        "LOG_LEVEL": "ignored because PIC_LOG_LEVEL is set",
        "PIC_WATCH_NAMESPACES": "",
        "WATCH_NAMESPACE": "prod",
        "PIC_ACKNOWLEDGE": "3f1c9a",
        "PIHOLE_URL": "http://pihole.lan",
        "DEFAULT_TARGET_IP": "10.0.0.1",
    }

    assert settings({}, environment) == Settings(
        default_tunnel="site",
        tunnel_class_mapping={"eu": "site-eu", "us": "site-us"},
        backend_scheme="https",
        resync_period=timedelta(seconds=30),
        log_level=LogLevel.WARN,
        namespaces=("prod",),
        acknowledge="3f1c9a",
        pihole_url="http://pihole.lan",
        pihole_target_ip="10.0.0.1",
    )


def test_the_stack_wins_over_a_variable_and_a_notice_reports_the_difference() -> None:
    environment = {
        "PIC_RESYNC_PERIOD": "10m",
        "PIC_BACKEND_SCHEME": "gopher",
        "LOG_LEVEL": "INFO",
        "WATCH_NAMESPACE": "dev",
    }
    values = {
        "resyncPeriod": "5m",
        "backendScheme": "http",
        "logLevel": "info",
        "namespaces": "prod",
    }

    assert parse(values, environment) == (
        Settings(namespaces=("prod",)),
        (
            difference(
                "namespaces",
                "WATCH_NAMESPACE is 'dev' and pic:namespaces is 'prod': pic uses pic:namespaces",
            ),
            difference(
                "backendScheme",
                "PIC_BACKEND_SCHEME has an invalid value: pic ignores it and uses"
                " pic:backendScheme",
            ),
            difference(
                "resyncPeriod",
                "PIC_RESYNC_PERIOD is '10m' and pic:resyncPeriod is '5m': pic uses"
                " pic:resyncPeriod",
            ),
        ),
    )


def test_a_variable_does_not_replace_a_wrong_value_of_the_stack() -> None:
    assert problems({"keepHistory": "x", "logLevel": "loud"}, {"PIC_LOG_LEVEL": "warn"}) == (
        "pic:logLevel is 'loud'; allowed: debug, info, warn or error",
        f"pic:keepHistory is 'x'; allowed: {WHOLE_NUMBER}",
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((value, TakeOver.ALL) for value in (True, "yes", "all", "ALL")),
        *((value, TakeOver.NONE) for value in (False, "off", "none")),
        ("Pic", TakeOver.PIC),
    ],
)
def test_take_over_is_a_word_or_a_boolean(value: object, expected: TakeOver) -> None:
    assert settings({"piholeTakeOver": value}).pihole_take_over is expected
