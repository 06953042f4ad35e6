import pytest

from dev import demo_pihole
from dev.probing import ProbeCounts


def test_the_demo_refuses_to_run_with_a_kubeconfig(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/home/me/.kube/production")

    code = demo_pihole.main()

    assert (code, capsys.readouterr()) == (
        2,
        (
            "",
            "demo: KUBECONFIG is set, but the demo only uses a cluster that it starts itself;"
            " unset KUBECONFIG and run it again\n",
        ),
    )


def test_an_answer_can_be_missing_or_unexpected() -> None:
    counts = ProbeCounts()
    for answer in (["192.168.9.1"], ["192.168.9.1", "192.168.9.2"], [], ["10.0.0.1"]):
        counts = counts.with_answer(answer, ("192.168.9.1", "192.168.9.2"))

    assert counts == ProbeCounts(queries=4, missing=1, unexpected=1)
