"""Tests what a move from another controller changes for each Ingress, and how it is printed."""

from pic.core.ingress import Ingress, IngressPath, PathType, Rule
from pic.planning.foreign import moving
from pic.planning.foreign.moving import Moves
from pic.report import move_report

NGINX = "nginx.ingress.kubernetes.io/"
OURS = "pangolin.ingress.k8s.io/"


def ingress(
    name: str, class_name: str = "nginx", path: str = "/", **annotations: str | None
) -> Ingress:
    keys = {key.replace("__", "/").replace("_", "-"): text for key, text in annotations.items()}
    values = {key if "/" in key else f"{NGINX}{key}": text for key, text in keys.items()}
    paths = (IngressPath(path, PathType.IMPLEMENTATION_SPECIFIC, None, "spec.rules[0]"),)
    rules = (Rule(f"{name}.example.com", paths),)
    return Ingress("prod", name, "", class_name=class_name, annotations=values, rules=rules)


def moves(*ingresses: Ingress, name: str = "nginx") -> Moves:
    return moving.moves(ingresses, name)


WORLD = (
    ingress("web", path="/a(/|$)(.*)", auth_url="x", use_regex="true", ssl_redirect="true"),
    ingress("plain"),
    ingress("login", **{"auth_url": "x", f"{OURS}sso": "true"}),
    ingress("off", use_regex="false", odd_thing="1"),
    ingress("other", class_name="traefik"),
    ingress("canary", canary="true"),
)


def test_the_moves_are_printed_as_text() -> None:
    assert move_report.render_text(moves(*WORLD)) == (
        "Ingress prod/login (class nginx): login.example.com\n"
        f"  ! {NGINX}auth-url (asks an external service about each request)\n"
        "      an annotation of pic decides who may open the hosts\n"
        "\n"
        "Ingress prod/off (class nginx): off.example.com\n"
        f"  - {NGINX}odd-thing\n"
        "      no effect here: pic does not read it\n"
        f"  - {NGINX}use-regex (reads paths as regular expressions)\n"
        "      nothing to do: its value asks for nothing\n"
        "\n"
        "Ingress prod/plain (class nginx): plain.example.com\n"
        "  nothing but its class changes\n"
        "\n"
        "Ingress prod/web (class nginx): web.example.com\n"
        "  ! its hosts become public\n"
        f"  ! {NGINX}auth-url (asks an external service about each request)\n"
        f'      protected there, not here: set {OURS}sso: "true" to require a login\n'
        f"  - {NGINX}use-regex (reads paths as regular expressions)\n"
        f'      no effect here: paths are plain text; set {OURS}path-regex: "true"\n'
        f"  - {NGINX}ssl-redirect (redirects to HTTPS)\n"
        "      nothing to do: Pangolin always sends visitors to HTTPS\n"
        "  - path /a(/|$)(.*) (spec.rules[0]) reads like a pattern, but matches only this very"
        " text\n"
        "\n"
        "4 Ingresses of ingress-nginx, 2 others\n"
        "1 Ingress would make hosts public that ingress-nginx protects\n"
        "2 Ingresses with annotations that have no effect here\n"
        "To move them, set spec.ingressClassName to pangolin."
        " docs/moving-from-another-controller.md lists every annotation."
    )


def test_the_moves_are_printed_as_markdown() -> None:
    text = move_report.render_markdown(moves(WORLD[1], ingress("x`<b>", path="/a+", auth_url="x")))

    assert text == (
        "### Moving from ingress-nginx\n"
        "\n"
        "- 2 Ingresses of ingress-nginx, 0 others\n"
        "- 1 Ingress would make hosts public that ingress-nginx protects\n"
        "- To move them, set spec.ingressClassName to pangolin."
        " docs/moving-from-another-controller.md lists every annotation.\n"
        "\n"
        "#### `prod/plain`\n"
        "\n"
        "Hosts: `plain.example.com`, class: `nginx`\n"
        "\n"
        "- Nothing but its class changes.\n"
        "\n"
        "#### <code>prod&#47;x&#96;&#60;b&#62;</code>\n"
        "\n"
        "Hosts: <code>x&#96;&#60;b&#62;&#46;example&#46;com</code>, class: `nginx`\n"
        "\n"
        "- **Its hosts become public.**\n"
        f"- `{NGINX}auth-url`: protected there, not here: set {OURS}sso:"
        ' "true" to require a login\n'
        "- `path /a+ (spec.rules[0])` reads like a pattern, but matches only this very text\n"
    )


def test_an_ingress_without_hosts_and_class_belongs_to_a_controller_by_an_annotation() -> None:
    bare = Ingress("prod", "bare", "", annotations={"konghq.com/strip-path": "true"})

    assert move_report.render_text(moves(bare, name="kong")).splitlines()[0] == (
        "Ingress prod/bare (class none): no hosts"
    )


def test_without_ingresses_of_the_controller_only_the_counts_are_printed() -> None:
    assert move_report.render_text(moves(*WORLD, name="alb")) == (
        "0 Ingresses of AWS Load Balancer Controller, 6 others"
    )


def test_an_annotation_that_several_controllers_read_belongs_to_each_of_them() -> None:
    shared = ingress("a", "", **{"ingress.kubernetes.io__auth_type": "basic"})

    assert [
        len(moves(shared, name=name).moves) for name in ("nginx", "haproxy-ingress", "kong")
    ] == [
        1,
        1,
        0,
    ]


def test_the_moves_as_json() -> None:
    assert moving.as_json(moves(ingress("web", path="/a+", auth_url="x"))) == {
        "version": 1,
        "from": "nginx",
        "ingresses": [
            {
                "namespace": "prod",
                "name": "web",
                "class": "nginx",
                "hosts": ["web.example.com"],
                "becomesPublic": True,
                "annotations": [
                    {
                        "key": f"{NGINX}auth-url",
                        "effect": "protects",
                        "there": "asks an external service about each request",
                        "here": f'set {OURS}sso: "true" to require a login',
                    }
                ],
                "patterns": ["path /a+ (spec.rules[0])"],
            }
        ],
        "others": 0,
    }


def test_path_regex_makes_a_pattern_right() -> None:
    with_regex = ingress("web", path="/a+", **{f"{OURS}path-regex": "true"})

    assert moves(with_regex).moves[0].patterns == ()
