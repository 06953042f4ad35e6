"""Tests what the guard holds: in each namespace, over a window of time, and only once."""

import re

from tests.engine.stage import Stage

LOGIN = {"pangolin.ingress.k8s.io/sso": "true"}
OFF = {"pangolin.ingress.k8s.io/enabled": "false"}


def digest(out: str) -> str:
    """Return the digest that lets everything through that a run holds."""
    match = re.search(r"--acknowledge ([0-9a-f]{16})\n", out)
    assert match, out
    return match[1]


def words(prefix: str, count: int) -> list[str]:
    return [f"{prefix}{number}" for number in range(count)]


def test_09_hosts_of_one_namespace_raise_no_limit_of_another(stage: Stage) -> None:
    attacker = stage.add_namespace()
    stage.settings(keepHistory=5)
    stage.ingress("victim", *words("v", 10))
    stage.ingress("stays", "stays")
    stage.ingress("bogus", *words("b", 60), namespace=attacker)
    assert stage.pic("up").code == 0
    stage.ingress("victim", *words("v", 10), class_name="nginx")

    held = stage.pic("up")

    assert held.code == 8, held
    assert len(stage.objects()) == 11
    # The attacker gives up his own hosts, and keeps no other namespace from a deployment.
    stage.ingress("bogus", *words("b", 60), namespace=attacker, annotations=OFF)
    stage.ingress("stays", "stays", "more")
    assert stage.pic("up").code == 8
    assert (len(stage.objects()), stage.objects(attacker)) == (12, [])


def test_17_hosts_that_go_one_by_one_are_counted_over_a_window(stage: Stage) -> None:
    hosts = words("h", 12)
    stage.ingress("web", *hosts)
    assert stage.pic("up").code == 0
    codes = []
    for count in range(11, 3, -1):
        stage.ingress("web", *hosts[:count])
        codes.append(stage.pic("up").code)

    assert codes == [0, 0, 0, 0, 0, 8, 8, 8]
    assert len(stage.objects()) == 7


def test_18_an_acknowledgement_works_once(stage: Stage) -> None:
    hosts = words("h", 7)
    stage.ingress("many", *hosts)
    stage.ingress("one", "one")
    assert stage.pic("up").code == 0
    stage.ingress("many", *hosts, class_name="nginx")
    used = digest(stage.pic("up").out)
    assert stage.pic("up", "--acknowledge", used).code == 0
    assert set(stage.identities()) == {stage.host("one")}
    stage.ingress("many", *hosts)
    assert stage.pic("up").code == 0
    stage.ingress("many", *hosts, class_name="nginx")

    again = stage.pic("up", "--acknowledge", used)

    assert again.code == 8, again
    assert f"{used} fits nothing that waits" in again.err
    assert len(stage.objects()) == 8


def test_19_no_login_goes_within_a_limit(stage: Stage) -> None:
    hosts = words("h", 5)
    stage.ingress("web", *hosts, annotations=LOGIN)
    assert stage.pic("up").code == 0
    stage.ingress("web", *hosts)

    held = stage.pic("up")

    assert held.code == 8, held
    assert all(live["spec"]["httpConfig"]["sso"] for live in stage.objects())
    assert stage.pic("up", "--acknowledge", digest(held.out)).code == 0
    assert not any(live["spec"]["httpConfig"]["sso"] for live in stage.objects())


def test_19_the_login_of_a_deleted_ingress_stays_for_its_sibling(stage: Stage) -> None:
    stage.ingress("admin", "www", annotations=LOGIN, paths=("/admin",))
    stage.ingress("web", "www")
    assert stage.pic("up").code == 0
    stage.delete_ingress("admin", collected=False)

    held = stage.pic("up")

    assert held.code == 8, held
    assert stage.object("www")["spec"]["httpConfig"]["sso"] is True
