import os
import signal
import subprocess
from pathlib import Path

import pytest

from bench import __main__ as bench
from bench import commands, figures, goals, options, tables
from bench.errors import BenchError
from bench.figures import Observed, Row, Samples, ratio
from bench.memory import Observer
from bench.options import Options
from bench.running import count_requests
from bench.stage import moved
from dev.toolchain import ControlPlaneBinaries, Engine, Toolchain
from dev.workspace import Workspace
from tests.support.waiting import until

OBSERVED = Observed(tree_mb=400.4, process_mb=99.6, engines=0, clis=1, requests=0)
TOOLS = Toolchain(
    Engine(Path("/tools/bin"), Path("/tools/home")),
    ControlPlaneBinaries(("etcd",), ("apiserver",), None, ("kubernetes", "kubectl")),
)
PROJECT = Workspace(Path("/project"), TOOLS, Path("/kubeconfig"))
METRICS = """\
# TYPE apiserver_request_total counter
apiserver_request_total{code="200",resource="pangolinresources",verb="LIST"} 7
apiserver_request_total{code="200",resource="pangolinresources",verb="WATCH"} 2
apiserver_request_total{code="200",resource="pangolinresources",verb="GET"} 3
apiserver_request_total{code="201",dry_run="All",resource="pangolinresources",verb="APPLY"} 1e+03
apiserver_request_total{code="200",resource="ingresses",verb="GET"} 5
apiserver_request_duration_seconds{resource="pangolinresources",verb="GET"} 9
"""


def samples(hosts: int, factor: float = 1.0) -> Samples:
    measured = Samples(hosts)
    for seconds, row in enumerate(Row, start=1):
        for jitter in (0.5, 0.0, -0.25):
            measured.add(row, (seconds + jitter) * factor)
    measured.moved.extend((0, 0, 0))
    return measured


def all_results() -> dict[str, object]:
    observed = {Row.NOOP: OBSERVED, Row.ENGINE_NOOP: OBSERVED}
    return figures.results(samples(1_000), [samples(500), samples(4_000, 8.8)], observed)


def test_the_results_have_every_figure_and_its_yardstick() -> None:
    growth = {"per_host_500": 0.002, "per_host_4000": 0.0022, "ratio": 1.1}

    results = all_results()

    rows = results["growth"].pop("rows")  # type: ignore[attr-defined]
    assert rows["noop"] == {"per_host_500": 0.006, "per_host_4000": 0.0066, "ratio": 1.1}
    assert list(rows) == [row.value for row in figures.OURS]
    assert results == {
        "hosts": 1_000,
        "cold": {
            "seconds": 1.0,
            "kubectl_apply": 9.0,
            "ratio": 0.11,
            "naive": 12.0,
            "ratio_naive": 1.33,
            "seconds_events": 2.0,
            "ratio_events": 0.22,
            "engine_alone": 16.0,
            "ratio_engine_alone": 1.78,
            "ratio_to_engine_alone": 0.06,
        },
        "noop": {
            "seconds": 3.0,
            "kubectl_diff": 10.0,
            "ratio": 0.3,
            "naive": 13.0,
            "ratio_naive": 1.3,
            "engine_processes": 0,
            "cli_processes": 1,
            "requests": 0,
        },
        "engine_noop": {
            "seconds": 4.0,
            "kubectl_diff": 10.0,
            "ratio": 0.4,
            "seconds_refresh": 5.0,
            "ratio_refresh": 0.5,
            "seconds_first": 15.0,
            "ratio_first": 1.5,
            "requests": 0,
        },
        "one_change": {
            "seconds": 6.0,
            "engine_noop": 4.0,
            "ratio": 1.5,
            "naive": 14.0,
            "ratio_naive": 3.5,
            "requests": None,
        },
        "state_lost": {
            "seconds": 7.0,
            "cold": 1.0,
            "ratio_to_cold": 7.0,
            "generations_moved": 0,
        },
        "destroy": {"seconds": 8.0, "kubectl_delete": 11.0, "ratio": 0.73},
        "growth": {**growth, "row": "cold"},
        "rss_mb": {
            "noop": {"tree": 400, "process": 100},
            "engine_noop": {"tree": 400, "process": 100},
        },
    }


def test_the_growth_is_that_of_the_fastest_growing_row() -> None:
    small, large = samples(500), samples(4_000, 8.0)
    large.seconds[Row.DESTROY] = [96.0]

    growth = figures.results(small, [small, large], {})["growth"]

    assert {key: growth[key] for key in ("per_host_500", "per_host_4000", "ratio", "row")} == {  # type: ignore[index]
        "per_host_500": 0.016,
        "per_host_4000": 0.024,
        "ratio": 1.5,
        "row": "destroy",
    }


def test_a_missing_measurement_is_null_and_meets_no_goal() -> None:
    results = figures.results(Samples(10), [], {})

    assert results["destroy"] == {"seconds": None, "kubectl_delete": None, "ratio": None}
    assert (results["growth"], results["rss_mb"]) == ({}, {})
    assert {goal.verdict(results) for goal in goals.GOALS} == {"not measured"}
    assert tables.growth(results) == ""


def test_generations_moved_is_the_largest_of_the_rounds() -> None:
    measured = samples(10)
    measured.moved[:] = [0, 3, 0]

    assert figures.results(measured, [], {})["state_lost"] == {
        "seconds": 7.0,
        "cold": 1.0,
        "ratio_to_cold": 7.0,
        "generations_moved": 3,
    }


@pytest.mark.parametrize(
    ("value", "yardstick", "expected"),
    [(3.0, 2.0, 1.5), (1.0, 3.0, 0.33), (0.0, 3.0, 0.0), (None, 3.0, None), (1.0, None, None)],
)
def test_a_ratio_has_two_digits(
    value: float | None, yardstick: float | None, expected: float | None
) -> None:
    assert ratio(value, yardstick) == expected


def test_a_goal_is_met_up_to_its_limit() -> None:
    assert [(goal.path, goal.verdict(all_results())) for goal in goals.GOALS] == [
        ("cold.ratio", "met"),
        ("cold.ratio_to_engine_alone", "met"),
        ("cold.ratio_events", "met"),
        ("noop.ratio", "met"),
        ("noop.engine_processes", "met"),
        ("engine_noop.ratio", "met"),
        ("engine_noop.ratio_refresh", "met"),
        ("one_change.ratio", "met"),
        ("state_lost.ratio_to_cold", "NOT MET"),
        ("state_lost.generations_moved", "met"),
        ("growth.ratio", "met"),
        ("noop.requests", "met"),
        ("engine_noop.requests", "met"),
        ("rss_mb.watch.tree", "not measured"),
    ]


def test_the_tables_show_every_figure() -> None:
    results = all_results()
    lines = {name: getattr(tables, name)(results).splitlines() for name in ("figures", "growth")}

    assert lines["figures"][2:] == [
        "pic up from nothing, Events off          1.00   kubectl apply             9.00   0.11",
        "pic up from nothing, Events on           2.00   kubectl apply             9.00   0.22",
        "the engine alone, from nothing           16.00  kubectl apply             9.00   1.78",
        "naive from nothing                       12.00  kubectl apply             9.00   1.33",
        "pic up, nothing to do                    3.00   kubectl diff              10.00  0.30",
        "naive, nothing to do                     13.00  kubectl diff              10.00  1.30",
        "pulumi up, the first after a deployment  15.00  kubectl diff              10.00  1.50",
        "pulumi up, nothing to do                 4.00   kubectl diff              10.00  0.40",
        "pulumi up with refresh, nothing to do    5.00   kubectl diff              10.00  0.50",
        "pic up, one host changed                 6.00   pulumi up, nothing to do  4.00   1.50",
        "naive, one host changed                  14.00  pulumi up, nothing to do  4.00   3.50",
        "pic up, state lost                       7.00   pic up from nothing       1.00   7.00",
        "pic destroy                              8.00   kubectl delete            11.00  0.73",
    ]
    assert lines["growth"][:3] == [
        "growth of            ms per host at 500    ms per host at 4,000    ratio",
        "-------------------  --------------------  ----------------------  -------",
        "cold                 2.00                  2.20                    1.10",
    ]
    assert tables.memory(results).splitlines()[2:] == [
        "noop         400                   100",
        "engine_noop  400                   100",
    ]
    assert tables.goals(results).splitlines()[10] == (
        "pic up, state lost                     3 x pic up from nothing"
        "               7.00        NOT MET"
    )


def test_the_figures_of_every_round_are_saved() -> None:
    measured = Samples(5, {Row.NOOP: [1.234, 2.0]}, [0])

    assert figures.all_rounds(measured) == {
        "hosts": 5,
        "seconds": {"noop": [1.23, 2.0]},
        "moved": [0],
    }


def test_the_default_options_are_those_of_the_goals() -> None:
    assert options.read_options({}) == Options(1_000, 3, 1, (500, 4_000), plain=False)


def test_the_options_come_from_the_environment() -> None:
    environment = {
        "BENCH_HOSTS": "50",
        "BENCH_ROUNDS": "1",
        "BENCH_NAIVE_ROUNDS": "0",
        "BENCH_GROWTH": "",
        "BENCH_PIC": "pulumi",
    }

    assert options.read_options(environment) == Options(50, 1, 0, (), plain=True)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("BENCH_HOSTS", "many", "BENCH_HOSTS is many; allowed: whole numbers from 1"),
        ("BENCH_ROUNDS", "0", "BENCH_ROUNDS is 0; allowed: whole numbers from 1"),
        ("BENCH_NAIVE_ROUNDS", "-1", "BENCH_NAIVE_ROUNDS is -1; allowed: whole numbers from 0"),
        ("BENCH_PIC", "helm", "BENCH_PIC is helm; allowed: pic, pulumi"),
        ("BENCH_GROWTH", "9", "BENCH_GROWTH is 9; allowed: two increasing numbers, or nothing"),
        ("BENCH_GROWTH", "9,5", "BENCH_GROWTH is 9,5; allowed: two increasing numbers, or nothing"),
    ],
)
def test_an_option_with_a_wrong_value_is_an_error(name: str, value: str, message: str) -> None:
    with pytest.raises(BenchError) as raised:
        options.read_options({name: value})

    assert str(raised.value) == message


def test_only_requests_about_single_objects_are_counted() -> None:
    assert count_requests(METRICS) == 1_003


def test_added_changed_and_removed_objects_have_moved() -> None:
    before = {"same": ("u1", 1), "changed": ("u2", 1), "removed": ("u3", 1)}
    after = {"same": ("u1", 1), "changed": ("u2", 2), "new": ("u4", 1)}

    assert (moved(before, after), moved(before, before)) == (3, 0)


def test_the_driver_runs_pic_up_or_plain_pulumi() -> None:
    pic, plain = (commands.driver(plain=plain).up(PROJECT) for plain in (False, True))

    assert pic.words == ("/project/.venv/bin/python", "-m", "pic", "up", "--stack", "dev")
    assert plain.words[:5] == ("/tools/bin/pulumi", "up", "--yes", "--skip-preview", "--stack")
    assert plain.environment["PULUMI_SKIP_CHECKPOINTS"] == "true"


def test_yardsticks_run_with_their_default_settings() -> None:
    defaults = ("env", "-u", "GOGC", "-u", "PULUMI_PARALLEL")

    diff = commands.kubectl_diff(PROJECT, Path("/objects.json"))

    assert commands.naive_up(PROJECT).words[:6] == (*defaults, "/tools/bin/pulumi")
    assert (diff.words[:7], diff.good) == ((*defaults, "kubernetes", "kubectl"), (0, 1))


def test_an_observer_measures_the_memory_of_descendants_and_recognizes_the_engine() -> None:
    children = "sleep 60 & (exec -a pulumi-plugin sleep 60) & (exec -a pulumi sleep 60) & wait"
    with subprocess.Popen(["bash", "-c", children], start_new_session=True) as root:
        try:
            with Observer(root.pid) as observer:
                until(lambda: observer.engines and observer.clis, "the plugin and the CLI appear")
        finally:
            os.killpg(root.pid, signal.SIGKILL)

    assert (len(observer.engines), len(observer.clis)) == (1, 1)
    assert 0 < observer.process_mb <= observer.tree_mb


def test_the_bench_refuses_to_run_with_a_kubeconfig(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = bench.main({"KUBECONFIG": "/home/me/.kube/production"})

    assert (code, capsys.readouterr()) == (
        2,
        (
            "",
            "bench: KUBECONFIG is set, but the bench only uses a cluster that it starts itself;"
            " unset KUBECONFIG and run it again\n",
        ),
    )
