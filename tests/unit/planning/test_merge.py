"""Tests what a held resource declares."""

from pic.core.advice import ADVICE, Fate
from pic.core.model import HttpConfig, LiveResource, Spec, Target, TunnelRef
from pic.planning.live_form import held_spec
from pic.planning.merge import DELETING, HOLDING

SPEC = Spec(
    enabled=True,
    name="app.example.com",
    protocol="http",
    tunnel=TunnelRef("edge", "net"),
    http=HttpConfig("example.com", "app", sso=True, block_access=False),
    targets=(
        Target("a", 80, "http", "^/a(/|$)", "regex", 106),
        Target("b", 80, "http", priority=100),
    ),
)
TARGETS = (Target("a", 80, "http", "^/a(/|$)", "regex", 106), Target("b", 80, "http"))


def held(*owned: str, spec: Spec = SPEC) -> Spec:
    return held_spec(LiveResource("prod", "x", "u", "h", spec=spec, owned=frozenset(owned)))


def test_without_managed_fields_everything_except_defaults_is_held() -> None:
    unknown = LiveResource("prod", "x", "u", "h", spec=SPEC)

    expected = Spec(
        enabled=True,
        name="app.example.com",
        protocol="http",
        tunnel=TunnelRef("edge", "net"),
        http=HttpConfig("example.com", "app", sso=True, block_access=False),
        targets=TARGETS,
    )
    assert held_spec(unknown) == expected
    assert held() == expected


def test_each_field_that_pic_owns_is_held() -> None:
    protection = HttpConfig(sso=True, block_access=False)

    assert held("siteRef") == Spec(http=protection)
    assert held("enabled") == Spec(enabled=True, http=protection)
    assert held("name") == Spec(name="app.example.com", http=protection)
    assert held("protocol") == Spec(protocol="http", http=protection)
    assert held("tunnelRef", "tunnelRef.name") == Spec(tunnel=TunnelRef("edge"), http=protection)
    assert held("tunnelRef", "tunnelRef.namespace").tunnel == TunnelRef("edge", "net")
    assert held("targets") == Spec(targets=TARGETS, http=protection)
    assert held("httpConfig", "httpConfig.domainName").http == HttpConfig(
        "example.com", sso=True, block_access=False
    )
    assert held("httpConfig", "httpConfig.subdomain").http == HttpConfig(
        subdomain="app", sso=True, block_access=False
    )


def test_the_single_target_of_the_older_crd_is_held() -> None:
    single = Spec(targets=(Target("a", 80),), single=True)

    assert held("target", "target.ip", spec=single) == single
    assert held("tunnelRef", spec=single) == Spec(single=True)


def test_the_documentation_says_which_reasons_delete_and_hold() -> None:
    assert {ADVICE[reason].fate for reason in DELETING} == {Fate.DELETED}
    assert {ADVICE[reason].fate for reason in HOLDING} == {Fate.HELD}
