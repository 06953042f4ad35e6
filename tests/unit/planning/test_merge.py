from pic.core.model import (
    HttpConfig,
    LiveResource,
    Spec,
    Target,
    TunnelRef,
)
from pic.core.notices import ADVICE, Fate
from pic.planning.merge import GOING, HOLDING, kept_spec

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


def kept(*owned: str, spec: Spec = SPEC) -> Spec:
    return kept_spec(LiveResource("prod", "x", "u", "h", spec=spec, owned=frozenset(owned)))


def test_where_nothing_is_known_of_managers_everything_is_kept_but_defaults() -> None:
    unknown = LiveResource("prod", "x", "u", "h", spec=SPEC)

    expected = Spec(
        enabled=True,
        name="app.example.com",
        protocol="http",
        tunnel=TunnelRef("edge", "net"),
        http=HttpConfig("example.com", "app", sso=True, block_access=False),
        targets=TARGETS,
    )
    assert kept_spec(unknown) == expected
    assert kept() == expected


def test_each_field_is_kept_where_pic_owns_it() -> None:
    protection = HttpConfig(sso=True, block_access=False)

    assert kept("siteRef") == Spec(http=protection)
    assert kept("enabled") == Spec(enabled=True, http=protection)
    assert kept("name") == Spec(name="app.example.com", http=protection)
    assert kept("protocol") == Spec(protocol="http", http=protection)
    assert kept("tunnelRef", "tunnelRef.name") == Spec(tunnel=TunnelRef("edge"), http=protection)
    assert kept("tunnelRef", "tunnelRef.namespace").tunnel == TunnelRef("edge", "net")
    assert kept("targets") == Spec(targets=TARGETS, http=protection)
    assert kept("httpConfig", "httpConfig.domainName").http == HttpConfig(
        "example.com", sso=True, block_access=False
    )
    assert kept("httpConfig", "httpConfig.subdomain").http == HttpConfig(
        subdomain="app", sso=True, block_access=False
    )


def test_the_one_target_of_the_older_crd_is_kept() -> None:
    single = Spec(targets=(Target("a", 80),), single=True)

    assert kept("target", "target.ip", spec=single) == single
    assert kept("tunnelRef", spec=single) == Spec(single=True)


def test_what_goes_and_what_holds_is_what_documentation_says() -> None:
    assert {ADVICE[reason].fate for reason in GOING} == {Fate.GOES}
    assert {ADVICE[reason].fate for reason in HOLDING} == {Fate.HELD}
