"""What a provider of Pi-hole is configured with."""

from pic.config import PiholeApi, Settings
from pic.pihole import configuration

SETTINGS = Settings(
    pihole_url="https://pi.hole",
    pihole_api=PiholeApi.DNS_LOCAL,
    pihole_take_over=True,
    pihole_server_name="pi.hole",
    pihole_insecure=True,
)


def test_what_the_provider_needs_is_told_and_nothing_else() -> None:
    settings = Settings(pihole_url="https://pi.hole", pihole_target_ip="10.0.0.1")

    assert configuration.write(settings, "c1") == {
        "api": "v6",
        "clusterId": "c1",
        "insecure": "false",
        "takeOver": "false",
        "url": "https://pi.hole",
    }


def test_what_is_told_is_understood() -> None:
    told = configuration.write(SETTINGS, "c1")

    assert configuration.read({**told, "version": "1.0.0"}) == (SETTINGS, "c1")
