"""What is told of the watcher's figures."""

from dataclasses import replace

from bench.watch import Figures, percentile, told

MEMORY = {"tree": 47.0, "process": 47.0, "pss": 35.0, "private": 33.0}
FIGURES = Figures(
    hosts=1000,
    rss_mb={"watch": MEMORY},
    after_mb=MEMORY,
    idle_cpu=0.0007,
    resync_cpu=0.0025,
    passes=[5.0, 4.0, 9.0],
    taken=[[2.0, 0.5, 1.0, 2.0, 5.5], [2.0, 0.7, 1.0, 2.0, 5.7]],
)


def test_each_stage_and_each_goal_has_its_figure() -> None:
    assert told(FIGURES) == (
        "quiet period 2 s, pic up for one of 1000 hosts 5.0 s\n"
        "\n"
        "an Ingress until its object          p50 s    p95 s\n"
        "---------------------------------  -------  -------\n"
        "quiet period, and the look             2        2\n"
        "the run begins: Python, modules        0.5      0.7\n"
        "cluster and last deployment read       1        1\n"
        "engine, until the object is there      2        2\n"
        "in all                                 5.5      5.7\n"
        "\n"
        "                   goal       found\n"
        "-----------------  ---------  --------  ---\n"
        "object there, p95  <= 8.00 s  5.70 s    met\n"
        "resident, idle     < 64 MiB   47.0 MiB  met\n"
        "processor, idle    < 1 %      0.07%     met\n"
        "a resync           < 0.1 s    0.0025 s  met"
    )


def test_a_goal_that_is_not_met_says_so() -> None:
    slow = replace(FIGURES, taken=[[2.0, 1.0, 1.0, 5.0, 9.0]], idle_cpu=0.02)

    assert told(slow).count("NOT MET") == 2


def test_a_percentile_is_one_of_the_figures() -> None:
    assert [percentile([3.0, 1.0, 2.0], part) for part in (0.0, 0.5, 0.95)] == [1.0, 2.0, 3.0]
