"""Tests that a DNS record stays with the namespace that has it."""

from tests.engine.records import IP, Registry

EVIL = "6.6.6.6"


def request(registry: Registry, namespace: str, *words: str) -> None:
    """Let the Ingress of a namespace request records with the address of an attacker."""
    annotations = {"pihole.io/register": "true", "pihole.io/target-ip": EVIL}
    stage = registry.stage
    stage.ingress("old", *words, namespace=namespace, annotations=annotations, class_name="none")


def test_16_an_older_ingress_does_not_move_the_record_of_another_namespace(
    registry: Registry,
) -> None:
    stage = registry.stage
    attacker = stage.add_namespace()
    request(registry, attacker, "boring")
    registry.register("web", "www")
    assert stage.pic("up").code == 0
    request(registry, attacker, "www")

    answer = stage.pic("up")

    assert answer.code == 0, answer
    assert registry.ours == registry.lines("www", ip=IP)


def test_16_a_record_stays_reserved_while_its_owner_deploys_again(registry: Registry) -> None:
    stage = registry.stage
    attacker = stage.add_namespace()
    registry.register("web", "www")
    registry.register("other", "other")
    assert stage.pic("up").code == 0
    request(registry, attacker, "www")
    stage.delete_ingress("web")

    held = stage.pic("up")

    assert held.code == 8, held
    assert f"{EVIL} {stage.host('www')}" not in registry.ours
    registry.register("web", "www")
    assert stage.pic("up").code == 0
    assert registry.ours == registry.lines("other", "www")


def test_16_a_policy_is_in_force_for_records_too(registry: Registry) -> None:
    stage = registry.stage
    attacker = stage.add_namespace()
    stage.settings(hostPolicy={stage.name: [f"*.{stage.name}.example"]})
    request(registry, attacker, "www")

    answer = stage.pic("up")

    assert answer.code == 0, answer
    assert "HostNotAllowed" in answer.err
    assert registry.ours == []
