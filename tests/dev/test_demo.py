import pytest

from dev import demo
from dev.demo_text import diagnostics, trimmed

KIND = "kubernetes:tunnel.pangolin.io/v1alpha1:PangolinResource"
UP = f"""\
Updating (demo):

 ~  pulumi:pulumi:Stack pic-demo refreshing (0s)\x20
 ~  {KIND} app.example.com refresh (0.02s)\x20
@ updating....
 +  {KIND} app.example.com creating (0s)\x20
 +  {KIND} app.example.com created (0.06s)\x20
    pulumi:pulumi:Stack pic-demo  1 warning; 1 message
Diagnostics:
  pulumi:pulumi:Stack (pic-demo):
    warning: EmptyHost: Ingress prod/web: a rule without a host is skipped
    BlockAccess: Ingress prod/web: block-access blocks everybody

Outputs:
    resources: 1

Resources:
    + 1 created
    1 unchanged

Duration: 2s
"""
DIFF = f"""\
Previewing update (demo):
~ pulumi:pulumi:Stack: (refresh)
    [urn=urn:pulumi:demo::pic::pulumi:pulumi:Stack::pic-demo]
  pulumi:pulumi:Stack: (same)
    [urn=urn:pulumi:demo::pic::pulumi:pulumi:Stack::pic-demo]
    ~ {KIND}: (refresh)
        [id=prod/pic-0]
        [urn=urn:pulumi:demo::pic::{KIND}::gone.example.com]
    + {KIND}: (create)
        [urn=urn:pulumi:demo::pic::{KIND}::new.example.com]
        [provider=urn:pulumi:demo::pic::pulumi:providers:kubernetes::cluster::1]
        kind      : "PangolinResource"
        metadata  : {{
            name: "pic-1"
        }}
        spec      : {{
            targets: [
                [0]: {{
                    port: 80
                }}
            ]
        }}
    ~ {KIND}: (update)
        [id=prod/pic-2]
        [urn=urn:pulumi:demo::pic::{KIND}::app.example.com]
      ~ spec: {{
          ~ enabled: false => true
        }}

    - {KIND}: (delete)
        [id=prod/pic-3]
        [urn=urn:pulumi:demo::pic::{KIND}::old.example.com]
        kind      : "PangolinResource"
Resources:
    + 1 to create
    ~ 1 to update
    - 1 to delete
"""


def test_the_demo_refuses_a_cluster_that_it_did_not_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/home/me/.kube/production")

    code = demo.main()

    assert (code, capsys.readouterr()) == (
        2,
        (
            "",
            "demo: KUBECONFIG is set, and the demo never touches a cluster it did not start: run it"
            " with KUBECONFIG unset\n",
        ),
    )


def test_a_run_is_what_was_done_and_what_was_told() -> None:
    assert trimmed(UP) == (
        " +  PangolinResource app.example.com created (0.06s)\n"
        "\n"
        "Diagnostics:\n"
        "  pulumi:pulumi:Stack (pic-demo):\n"
        "    warning: EmptyHost: Ingress prod/web: a rule without a host is skipped\n"
        "    BlockAccess: Ingress prod/web: block-access blocks everybody\n"
        "\n"
        "Resources:\n"
        "    + 1 created\n"
        "    1 unchanged\n"
        "\n"
        "Duration: 2s"
    )


def test_what_was_told_before_is_not_told_again() -> None:
    assert trimmed(UP, diagnostics(UP)) == (
        " +  PangolinResource app.example.com created (0.06s)\n"
        "\n"
        "Resources:\n"
        "    + 1 created\n"
        "    1 unchanged\n"
        "\n"
        "Duration: 2s"
    )


def test_an_error_is_told_every_time() -> None:
    refused = "Diagnostics:\n  pulumi:pulumi:Stack (pic-demo):\n    error: 6 of 7 hosts\n"

    assert trimmed(refused, diagnostics(refused)) == refused.strip()


def test_a_diff_shows_the_spec_of_what_is_new_and_the_change_of_what_is_not() -> None:
    assert trimmed(DIFF) == (
        "    + PangolinResource new.example.com (create)\n"
        "        spec      : {\n"
        "            targets: [\n"
        "                [0]: {\n"
        "                    port: 80\n"
        "                }\n"
        "            ]\n"
        "        }\n"
        "    ~ PangolinResource app.example.com (update)\n"
        "      ~ spec: {\n"
        "          ~ enabled: false => true\n"
        "        }\n"
        "    - PangolinResource old.example.com (delete)\n"
        "\n"
        "Resources:\n"
        "    + 1 to create\n"
        "    ~ 1 to update\n"
        "    - 1 to delete"
    )
