"""The order of Ingresses by age."""

from pic.core.ingress import Ingress


def test_the_oldest_ingress_comes_first_and_those_without_a_creation_time_last() -> None:
    old = Ingress("prod", "z", "uid-1", "2025-01-01T00:00:00+00:00")
    young = Ingress("prod", "a", "uid-2", "2026-01-01T00:00:00+00:00")
    unknown, by_name = Ingress("dev", "a", "uid-3"), Ingress("dev", "b", "uid-4")

    ingresses = sorted([by_name, unknown, young, old], key=lambda ingress: ingress.age)

    assert ingresses == [old, young, unknown, by_name]


def test_the_key_of_an_ingress_is_its_namespace_and_name() -> None:
    assert Ingress("prod", "web", "uid-1").key == ("prod", "web")
