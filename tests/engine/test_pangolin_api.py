"""The target pangolin-api on the real engine: what is asked for is what Pangolin's proxy serves."""

import re
from collections.abc import Iterator

import pytest

from dev.controlplane import ControlPlane
from dev.pangolin_api import Moment, Pangolin
from dev.toolchain import Toolchain
from tests.engine.published import PublicStage, public_stage
from tests.engine.stage import PicRun

NOTHING = "Nothing to do: everything is as it was deployed.\n"
SSO = {"pangolin.ingress.k8s.io/sso": "true"}


@pytest.fixture
def pangolin() -> Iterator[Pangolin]:
    with Pangolin() as pangolin:
        yield pangolin
        assert pangolin.deaths == []


@pytest.fixture
def public(plane: ControlPlane, tools: Toolchain, pangolin: Pangolin) -> Iterator[PublicStage]:
    with public_stage(plane, tools, pangolin) as public:
        yield public


def last_line(run: PicRun) -> str:
    return run.out.splitlines()[-1] if run.out else run.err


def acknowledgement(run: PicRun) -> str:
    return str(re.findall(r"--acknowledge ([0-9a-f]+)", run.out + run.err)[-1])


def test_an_ingress_is_published_protected_and_unpublished(public: PublicStage) -> None:
    stage = public.stage
    stage.ingress("web", "www", "shop")

    first = stage.pic("up")

    assert last_line(first) == "Done: 2 created.", first
    assert (public.reach("www"), public.reach("shop")) == ("open", "open")
    assert sorted(reason for _, reason, _ in stage.events()) == ["Created", "Created"]

    public.pangolin.log.clear()
    assert stage.pic("up") == PicRun(0, NOTHING, "")
    assert (public.pangolin.writes, len(public.pangolin.log)) == ([], 4)

    stage.ingress("web", "www", "shop", annotations=SSO)
    assert last_line(stage.pic("up")) == "Done: 2 updated."
    assert (public.reach("www"), public.reach("shop")) == ("login", "login")

    stage.ingress("web", "www", "shop")
    held = stage.pic("up")
    assert (held.code, public.reach("www")) == (8, "login")

    digest = acknowledgement(held)
    assert stage.pic("up", "--acknowledge", digest).code == 0
    assert public.reach("www") == "open"

    stage.ingress("web", "shop")
    removed = stage.pic("up")
    assert "Pangolin has no resource for the removed hosts any more." in removed.out
    assert (public.reach("www"), public.reach("shop")) == ("nothing", "open")


def test_paths_arrive(public: PublicStage) -> None:
    stage = public.stage
    stage.ingress("web", "www", paths=("/",))
    stage.pic("up")
    stage.ingress("web", "www", paths=("/docs",))

    assert last_line(stage.pic("up")) == "Done: 1 updated."
    assert (public.reach("www"), public.reach("www", "/docs")) == ("nothing", "open")
    assert stage.pic("up").out == NOTHING


def test_a_lost_state_imports_and_opens_nothing(public: PublicStage) -> None:
    stage = public.stage
    stage.ingress("web", "www", annotations=SSO)
    stage.pic("up")
    before, seen = public.resources, set[str]()

    def watch(moment: Moment) -> None:
        seen.add(moment.reach(stage.host("www")))

    stage.lose_state()
    public.pangolin.watch = watch
    healed = stage.pic("up")

    assert (healed.code, public.resources, seen) == (0, before, {"login"}), healed
    assert stage.pic("up").out == NOTHING


def test_a_lost_register_is_written_again_from_the_state(public: PublicStage) -> None:
    stage = public.stage
    stage.ingress("web", "www", annotations=SSO)
    stage.pic("up")
    before = public.resources
    public.lose_register()

    assert stage.pic("up").code == 0
    assert (public.resources, public.reach("www")) == (before, "login")
    assert stage.pic("up").out == NOTHING


def test_state_and_register_lost_leave_one_resource(public: PublicStage) -> None:
    stage = public.stage
    stage.ingress("web", "www", annotations=SSO)
    stage.pic("up")
    before = public.resources
    public.lose_register()
    stage.lose_state()

    assert stage.pic("up").code == 0
    assert (public.resources, public.reach("www")) == (before, "login")


def test_drift_finds_what_the_dashboard_changed_and_up_repairs_it(public: PublicStage) -> None:
    stage = public.stage
    stage.ingress("web", "www", "shop")
    stage.pic("up")
    ids = {host: number for host, (number, _) in public.resources.items()}
    public.pangolin.ask("POST", f"/resource/{ids[stage.host('www')]}", {"enabled": False})
    public.pangolin.ask("DELETE", f"/resource/{ids[stage.host('shop')]}")

    found = stage.pic("drift")

    assert "spec.enabled: declared true, live false" in found.out
    assert f"- {stage.host('shop')}" in found.out
    assert stage.pic("up").code == 0
    assert (public.reach("www"), public.reach("shop")) == ("open", "open")
    assert stage.pic("drift").out == "Nothing differs from the last deployment.\n"


def test_a_destruction_removes_all_of_ours_and_nothing_else(public: PublicStage) -> None:
    stage, store = public.stage, public.pangolin.store
    store.resource("home", name="By hand", fullDomain="hand.example.com", niceId="by-hand")
    stage.ingress("web", "www", "shop")
    stage.pic("up")

    refusal = stage.pic("destroy")
    destroyed = stage.pic("destroy", "--acknowledge", acknowledgement(refusal))

    assert destroyed.code == 0, destroyed
    assert list(public.resources) == ["hand.example.com"]


def test_two_stacks_share_an_organisation(
    public: PublicStage, plane: ControlPlane, tools: Toolchain
) -> None:
    public.stage.ingress("web", "www")
    public.stage.pic("up")
    with public_stage(plane, tools, public.pangolin) as other:
        other.stage.ingress("web", "www")
        assert last_line(other.stage.pic("up")) == "Done: 1 created."
        refusal = other.stage.pic("destroy")
        other.stage.pic("destroy", "--acknowledge", acknowledgement(refusal))

    assert list(public.resources) == [public.stage.host("www")]
    assert public.stage.pic("up").out == NOTHING


def test_the_host_of_someone_else_stays_untouched(public: PublicStage) -> None:
    stage = public.stage
    row = public.pangolin.store.resource(
        "home", name="By hand", fullDomain=stage.host("www"), niceId="by-hand"
    )
    before = dict(row)
    stage.ingress("web", "www", "shop")

    run = stage.pic("up")

    assert last_line(run) == "Done: 1 created."
    assert "'By hand' (by-hand) of Pangolin already exposes" in run.err
    assert dict(row) == before


def test_hosts_stay_while_pangolin_does_not_answer(public: PublicStage) -> None:
    stage = public.stage
    stage.ingress("web", "www")
    stage.pic("up")

    unread = stage.pic("up", PANGOLIN_API_KEY="id.wrong")

    assert unread.code == 5, unread
    stage.ingress("web", "www", "shop")
    assert stage.pic("up", PANGOLIN_API_KEY="id.wrong").code == 5
    assert public.reach("www") == "open"
    assert last_line(stage.pic("up")) == "Done: 1 created."
