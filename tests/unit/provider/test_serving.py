"""How the engine reaches a provider, apart from what each provider does."""

from pic.provider import serving


def test_a_checkout_without_the_distribution_has_a_version_too() -> None:
    assert serving.installed_version("no-such-distribution") == "0.0.0"
