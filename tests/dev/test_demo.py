import pytest

from dev import demo
from dev.demo_text import diagnostics, summary

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
    BlockAccess: Ingress prod/web: block-access blocks all access

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


def test_the_demo_refuses_to_run_with_a_kubeconfig(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = demo.main({"KUBECONFIG": "/home/me/.kube/production"})

    assert (code, capsys.readouterr()) == (
        2,
        (
            "",
            "demo: KUBECONFIG is set, but the demo only uses a cluster that it starts itself;"
            " unset KUBECONFIG and run it again\n",
        ),
    )


def test_the_summary_of_an_update_has_operations_and_messages() -> None:
    assert summary(UP) == (
        " +  PangolinResource app.example.com created (0.06s)\n"
        "\n"
        "Diagnostics:\n"
        "  pulumi:pulumi:Stack (pic-demo):\n"
        "    warning: EmptyHost: Ingress prod/web: a rule without a host is skipped\n"
        "    BlockAccess: Ingress prod/web: block-access blocks all access\n"
        "\n"
        "Resources:\n"
        "    + 1 created\n"
        "    1 unchanged\n"
        "\n"
        "Duration: 2s"
    )


def test_the_summary_omits_messages_that_were_shown_before() -> None:
    assert summary(UP, diagnostics(UP)) == (
        " +  PangolinResource app.example.com created (0.06s)\n"
        "\n"
        "Resources:\n"
        "    + 1 created\n"
        "    1 unchanged\n"
        "\n"
        "Duration: 2s"
    )


def test_the_summary_always_has_errors() -> None:
    refused = "Diagnostics:\n  pulumi:pulumi:Stack (pic-demo):\n    error: 6 of 7 hosts\n"

    assert summary(refused, diagnostics(refused)) == refused.strip()


def test_the_summary_of_a_preview_has_new_specs_and_changes() -> None:
    assert summary(DIFF) == (
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
