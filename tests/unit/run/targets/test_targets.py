"""Tests the list of targets, and that every target keeps to the interface."""

import pytest

from pic.core.model import Plan, Snapshot
from pic.planning.notice_log import NoticeLog
from pic.planning.ownership import Ownership
from pic.planning.request import PlanRequest
from pic.run import targets
from pic.run.targets import TARGETS
from pic.run.targets.interface import Target
from pic.run.targets.pangolin import Pangolin
from pic.settings.kinds import KINDS
from pic.settings.parse import Settings, TargetName, Unpublish
from pic.snapshot.assemble import RawSnapshot
from tests.support.memories import forgetful

ALL = Settings(targets=tuple(TargetName), pihole_url="http://127.0.0.1:9", cluster_id="cluster-1")

every_target = pytest.mark.parametrize("target", TARGETS, ids=lambda target: str(target.name))


def test_each_name_that_the_setting_allows_is_one_target() -> None:
    assert sorted(target.name for target in TARGETS) == sorted(TargetName)


def test_each_target_has_a_provider_package_of_its_own() -> None:
    packages = [target.token.partition(":")[0] for target in TARGETS]

    assert len(set(packages)) == len(TARGETS)


@every_target
def test_a_target_plans_nothing_for_an_empty_cluster(target: Target) -> None:
    request = PlanRequest(Snapshot(), ALL, "pic.prod", forgetful(Ownership("pic.prod")))

    assert target.plan(request, NoticeLog()) == Plan()
    assert target.hosts(Plan()) == {}


@every_target
def test_a_target_declares_its_own_token_through_a_provider_of_that_package(
    target: Target,
) -> None:
    declarations = target.declare(Plan(), Snapshot("cluster-1"), ALL)

    assert (declarations.token, declarations.resources) == (target.token, [])
    assert declarations.provider.package == target.token.partition(":")[0]


@every_target
def test_a_target_asks_only_for_permissions_on_kinds_that_pic_reads(target: Target) -> None:
    resources = {permission.resource for permission in target.permissions(ALL)}

    assert resources <= {kind.plural for kind in KINDS}
    assert resources


@every_target
def test_a_type_token_leads_back_to_its_target(target: Target) -> None:
    package = target.token.partition(":")[0]

    assert targets.target_of(target.token) == target.name
    assert targets.target_of(f"pulumi:providers:{package}") == target.name


def test_a_resource_of_no_target_counts_for_the_first_target() -> None:
    assert targets.target_of("pulumi:pulumi:Stack") == TARGETS[0].name
    assert targets.target_of("") == TARGETS[0].name


def test_only_the_targets_of_the_setting_are_active() -> None:
    assert [target.name for target in targets.active(Settings())] == [TargetName.PANGOLIN]
    assert [target.name for target in targets.active(ALL)] == list(TargetName)


def test_a_target_without_contents_of_its_own_reads_nothing() -> None:
    pangolin = TARGETS[0]
    raw = RawSnapshot(cluster_id="cluster-1")

    assert pangolin.read(raw, ALL, {}) is raw
    assert pangolin.read_error(Snapshot()) is None
    assert pangolin.probe(ALL, {}, "cluster-1") is None
    assert (pangolin.problems(ALL, {}), pangolin.conditions(ALL)) == ((), {})


@pytest.mark.parametrize("unpublish", [Unpublish.OFF, Unpublish.BLOCK])
@pytest.mark.parametrize("owner_references", [True, False])
def test_a_host_can_be_blocked_only_where_pic_deletes_its_object(
    unpublish: Unpublish, *, owner_references: bool
) -> None:
    settings = Settings(unpublish=unpublish, owner_references=owner_references)
    problem = (
        "pic:unpublish is block, but with pic:ownerReferences Kubernetes deletes our objects"
        " together with their Ingress, before pic can block them: set pic:ownerReferences to false,"
        " or pic:unpublish to off"
    )

    assert Target.problems(Pangolin(), settings, {}) == ()
    expected = (problem,) if owner_references and unpublish is Unpublish.BLOCK else ()
    assert Pangolin().problems(settings, {}) == expected
