import pytest

from dev import demo_pihole
from dev.probing import Heard


def test_the_demo_refuses_a_cluster_that_it_did_not_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/home/me/.kube/production")

    code = demo_pihole.main()

    assert (code, capsys.readouterr()) == (
        2,
        (
            "",
            "demo: KUBECONFIG is set, and the demo never touches a cluster it did not start: run it"
            " with KUBECONFIG unset\n",
        ),
    )


def test_an_answer_may_be_missing_or_strange() -> None:
    heard = Heard()
    for answer in (["192.168.9.1"], ["192.168.9.1", "192.168.9.2"], [], ["10.0.0.1"]):
        heard = heard.with_answer(answer, ("192.168.9.1", "192.168.9.2"))

    assert heard == Heard(asked=4, missing=1, strange=1)
