"""Tests that the log and the Events of a program have room for every namespace."""

import json

from pic.cluster.events import EVENTS_A_RUN
from pic.engine import program
from tests.support.api import Api, fill_cluster, ingress
from tests.support.programs import RunProgram


def test_21_the_log_shows_notices_of_every_namespace_warnings_first(
    api: Api, run: RunProgram
) -> None:
    count = program.SHOWN_NOTICES + 3
    noisy = [ingress(f"odd-{number:02}", "") for number in range(count)]
    fill_cluster(api, [*noisy, ingress("odd", "", namespace="team")])

    log = run().log

    shown = [text for level, text in log if "team/odd" in text]
    assert (len(log), shown, log[-1]) == (
        program.SHOWN_NOTICES + 1,
        ["EmptyHost: Ingress team/odd: a rule without a host is skipped: set its host"],
        ("WARNING", "and 4 more notices: see pic plan"),
    )


def test_21_a_namespace_with_many_new_hosts_leaves_others_their_events(
    api: Api, run: RunProgram
) -> None:
    hosts = [f"h{number:03}.example.com" for number in range(EVENTS_A_RUN)]
    fill_cluster(
        api, [ingress("web", *hosts), ingress("web", "quiet.example.com", namespace="team")]
    )

    registered = run({"pic:operatorLimit": "0"})

    bound = {
        entry["name"]: sorted(entry["hooks"])
        for entry in registered.resources
        if entry["name"] != "cluster"
    }
    every = ["afterCreate", "afterDelete", "afterUpdate", "beforeDelete"]
    assert bound == {**{host: ["beforeDelete"] for host in hosts}, "quiet.example.com": every}
    assert registered.log == [
        ("INFO", "100 hosts change at once in prod, so pic posts no Events for them")
    ]


def test_21_a_namespace_with_100_warnings_leaves_others_their_events(
    api: Api, run: RunProgram
) -> None:
    noisy = [ingress(f"odd-{number:03}", "") for number in range(EVENTS_A_RUN)]
    fill_cluster(api, [*noisy, ingress("odd", "", namespace="team")])

    run()

    posted = [json.loads(request.body) for request in api.requests if request.method == "POST"]
    places = [event["metadata"]["namespace"] for event in posted]
    assert (len(places), places.count("team")) == (EVENTS_A_RUN, 1)
