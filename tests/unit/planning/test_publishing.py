"""Tests which live resources planning sees in Pangolin itself, and how it finds sites."""

from dataclasses import replace

from pic.core.ingress import Ingress, Rule
from pic.core.model import Snapshot, Spec, Target, TunnelRef
from pic.core.published import PublicResource, Published
from pic.planning import forms, publishing
from pic.planning.publishing import Markers
from pic.planning.sites import Sites
from tests.support.memories import OURS, forgetful

HOST = "a.example.com"
MARKERS = Markers("pic-prod-0a0a0a0a-")
ROW = PublicResource(7, "pic-prod-0a0a0a0a-1", HOST, HOST)


def test_an_ingress_with_an_impossible_host_has_no_resource() -> None:
    odd = Ingress("prod", "odd", "uid-1", rules=(Rule("not a host"), Rule(HOST)))
    snapshot = Snapshot(ingresses=(odd,), published=Published(resources=(ROW,)))

    [live] = publishing.with_live(snapshot, forgetful(OURS), MARKERS).live

    assert (live.namespace, live.host) == ("prod", HOST)


def test_what_was_not_read_leaves_no_resource_behind() -> None:
    snapshot = Snapshot(published=Published(resources=(ROW,)))
    read = publishing.with_live(snapshot, forgetful(OURS), MARKERS)

    silent = publishing.with_live(replace(read, published=None), forgetful(OURS), MARKERS)

    assert (len(read.live), silent.live) == (1, ())


def test_a_resource_without_a_base_domain_in_the_organisation_is_its_own() -> None:
    snapshot = Snapshot(published=Published(resources=(ROW,)))

    [live] = publishing.with_live(snapshot, forgetful(OURS), MARKERS).live

    assert (live.spec.http.domain_name, live.spec.http.subdomain) == (HOST, None)


def test_the_form_of_targets_does_not_depend_on_their_order() -> None:
    targets = (Target("a", 80), Target("b", 80, path="/x", match="exact", priority=7))
    changed = (targets[0], replace(targets[1], path="/y"))

    assert forms.form(Spec(targets=targets)) == forms.form(Spec(targets=targets[::-1]))
    assert forms.form(Spec(targets=targets)) != forms.form(Spec(targets=changed))


def test_no_host_keeps_a_site() -> None:
    sites = Sites(Snapshot())

    assert sites.live_keep is False
    sites.keep("home", "prod", TunnelRef("home"))
