"""Tests which Ingresses pic exposes, and by which tunnel."""

from dataclasses import replace

import pytest

from pic.core.ingress import Ingress, IngressPath, PathType, Rule, ServiceBackend
from pic.core.notices import Notice, Reason, Ref
from pic.planning.notice_log import NoticeLog
from pic.planning.selection import CHALLENGE, SOLVER_LABEL, class_of, ignored, select
from pic.settings.parse import Settings

LEGACY = "kubernetes.io/ingress.class"


def ingress(*paths: IngressPath, class_name: str = "pangolin") -> Ingress:
    rules = (Rule("app.example.com", paths),)
    return Ingress("prod", "web", "uid-1", class_name=class_name, rules=rules)


def path(text: str, service: str) -> IngressPath:
    return IngressPath(text, PathType.PREFIX, ServiceBackend(service, 80))


@pytest.mark.parametrize(
    ("field", "annotation", "expected"),
    [
        ("a", None, "a"),
        ("a", "b", "a"),
        ("", "b", "b"),
        ("", "", ""),
        ("", None, ""),
    ],
)
def test_the_field_decides_the_class_before_the_annotation(
    field: str, annotation: str | None, expected: str
) -> None:
    annotated = replace(ingress(class_name=field), annotations={LEGACY: annotation})

    assert class_of(annotated) == expected


@pytest.mark.parametrize(
    ("name", "tunnel"),
    [
        ("pangolin", "main"),
        ("pangolin-eu", "europe"),
        ("pangolin-us", "us"),
        ("pangolin-a-b", "a-b"),
        ("pangolina", "main"),
        ("own", "main"),
        ("pangolin-", None),
        ("Pangolin", None),
        ("nginx", None),
    ],
)
def test_the_class_decides_the_selection_and_the_tunnel(name: str, tunnel: str | None) -> None:
    settings = Settings(
        ingress_classes=("pangolin*", "own"),
        default_tunnel="main",
        tunnel_class_mapping={"eu": "europe"},
    )

    selected = select([ingress(class_name=name)], (), settings, NoticeLog())

    assert [ingress.tunnel for ingress in selected] == ([tunnel] if tunnel else [])


PLAIN = ingress(path("/", "web"))
SOLVER = path("/x", "cm-acme-http-solver-ab")
CHALLENGED = path(f"{CHALLENGE}token", "any")


@pytest.mark.parametrize(
    ("solver", "reason"),
    [
        (replace(PLAIN, labels={SOLVER_LABEL: "true"}), Reason.SOLVER_IGNORED),
        (replace(PLAIN, labels={SOLVER_LABEL: "false"}), None),
        (ingress(SOLVER, CHALLENGED), Reason.SOLVER_IGNORED),
        (ingress(SOLVER, path("/", "web")), None),
        (ingress(path("/.well-known/acme-challenge", "web")), None),
        (replace(ingress(SOLVER), default_backend=ServiceBackend("web", 80)), None),
        (ingress(), None),
        (ingress(IngressPath("/", PathType.PREFIX, None)), None),
    ],
)
def test_a_solver_is_recognised_by_its_label_or_by_all_of_its_paths(
    solver: Ingress, reason: Reason | None
) -> None:
    assert ignored(solver) is reason


def test_the_log_drops_duplicates_and_sorts() -> None:
    notices = NoticeLog()
    about = Ref("Ingress", "prod", "web")
    later, sooner = Notice(Reason.NO_RULES, about, "b"), Notice(Reason.EMPTY_HOST, about, "a")

    for notice in (later, sooner, later):
        notices.put(notice)

    assert notices.sorted() == (sooner, later)
