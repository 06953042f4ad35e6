"""Tests the report about the figures of the watcher."""

from dataclasses import replace

from bench.watch import Figures, percentile, report

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
    assert report(FIGURES) == (
        "quiet period 2 s; pic up for one of 1000 hosts 5.0 s\n"
        "\n"
        "from Ingress to object                 p50 s    p95 s\n"
        "-----------------------------------  -------  -------\n"
        "quiet period and evaluation              2        2\n"
        "start of the run: Python, modules        0.5      0.7\n"
        "reading cluster and last deployment      1        1\n"
        "engine, until the object exists          2        2\n"
        "total                                    5.5      5.7\n"
        "\n"
        "                       goal       measured\n"
        "---------------------  ---------  ----------  ---\n"
        "object exists, p95     <= 8.00 s  5.70 s      met\n"
        "memory, idle           < 64 MiB   47.0 MiB    met\n"
        "processor, idle        < 1 %      0.07%       met\n"
        "processor, one resync  < 0.1 s    0.0025 s    met"
    )


def test_the_report_marks_a_goal_that_is_not_met() -> None:
    slow = replace(FIGURES, taken=[[2.0, 1.0, 1.0, 5.0, 9.0]], idle_cpu=0.02)

    assert report(slow).count("NOT MET") == 2


def test_a_percentile_is_one_of_the_figures() -> None:
    assert [percentile([3.0, 1.0, 2.0], part) for part in (0.0, 0.5, 0.95)] == [1.0, 2.0, 3.0]
