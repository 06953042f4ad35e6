"""Tests a day of ordinary work in a home lab, of which the guard holds nothing."""

from tests.engine.stage import PicRun, Stage

LOGIN = {"pangolin.ingress.k8s.io/sso": "true"}


def hosts(stage: Stage) -> set[tuple[str, str]]:
    """Return the exposed hosts with their namespaces."""
    return {
        (namespace, host) for namespace in stage.namespaces for host in stage.identities(namespace)
    }


def test_no_ordinary_work_is_held_where_one_team_has_the_cluster(stage: Stage) -> None:
    apps, preview = stage.add_namespace(), stage.add_namespace()
    stage.settings(tenants="one", ephemeral=[preview])
    runs: list[PicRun] = []

    def up() -> None:
        runs.append(stage.pic("up"))

    stage.ingress("web", "www", annotations=LOGIN)
    up()
    # The only host gets another name.
    stage.ingress("web", "home", annotations=LOGIN)
    up()
    # An app moves to another namespace, and is deployed again.
    stage.delete_ingress("web")
    stage.ingress("web", "home", namespace=apps, annotations=LOGIN)
    up()
    stage.ingress("web", "home", namespace=apps, paths=("/", "/api"), annotations=LOGIN)
    up()
    # A login is no longer needed.
    stage.ingress("web", "home", namespace=apps)
    up()
    # Ten preview environments come and go.
    words = [f"p{number}" for number in range(10)]
    stage.ingress("preview", *words, namespace=preview)
    up()
    stage.ingress("preview", *words, namespace=preview, class_name="nginx")
    up()
    # A backup of yesterday is restored: new Ingresses with the hosts of then.
    stage.cluster.delete("Ingress", apps, "web")
    stage.ingress("web", "www", annotations=LOGIN)
    stage.ingress("app", "home", namespace=apps)
    up()

    assert [run.code for run in runs] == [0] * 8, runs
    assert hosts(stage) == {(stage.name, stage.host("www")), (apps, stage.host("home"))}
