"""The configuration of the Pi-hole provider."""

from pic.pihole import provider_config
from pic.settings.parse import PiholeApi, Settings, TakeOver

SETTINGS = Settings(
    stack_id="0123456789abcdef",
    pihole_url="https://pi.hole",
    pihole_api=PiholeApi.DNS_LOCAL,
    pihole_take_over=TakeOver.PIC,
    pihole_server_name="pi.hole",
    pihole_insecure=True,
)


def test_the_properties_hold_only_what_the_provider_needs() -> None:
    settings = Settings(pihole_url="https://pi.hole", pihole_target_ip="10.0.0.1")

    assert provider_config.write(settings, "c1") == {
        "api": "v6",
        "clusterId": "c1",
        "insecure": "false",
        "takeOver": "false",
        "url": "https://pi.hole",
    }


def test_properties_convert_back_to_the_same_settings() -> None:
    properties = provider_config.write(SETTINGS, "c1")

    assert provider_config.read({**properties, "version": "1.0.0"}) == (SETTINGS, "c1")
