"""Tests who claims a host, and who gets a contested one."""

from pic.core.ingress import Ingress, Rule
from pic.core.model import LiveResource, Snapshot, Spec, TunnelRef
from pic.core.names import NAME_LABEL, STACK_LABEL
from pic.core.notices import Notice, Reason, Ref
from pic.core.operator_objects import Tunnel
from pic.core.unread import Unreadable
from pic.planning.annotations import IngressOptions
from pic.planning.claims import Claim, Claims, Contest, settle
from pic.planning.inventory import Inventory
from pic.planning.notice_log import NoticeLog
from pic.planning.ownership import Ownership
from pic.planning.selection import Selected
from pic.planning.tunnels import Tunnels
from pic.settings.parse import Settings
from tests.support.memories import forgetful

MEMORY = forgetful(Ownership("pic.prod"))
EMPTY = Inventory((), MEMORY)


def claim(host: str, namespace: str, name: str, created: str = "") -> Claim:
    return Claim(host, Ingress(namespace, name, f"uid-{name}", created))


def test_contests_are_sorted_by_host_with_the_oldest_claim_first() -> None:
    young, old = (
        claim("b.example", "prod", "young", "2025"),
        claim("b.example", "prod", "old", "2024"),
    )
    other = claim("a.example", "prod", "other")
    notices = NoticeLog()

    contests = list(settle([young, other, old], EMPTY, MEMORY, notices))

    assert contests == [
        Contest("a.example", (other,), None),
        Contest("b.example", (old, young), None),
    ]
    assert notices.sorted() == ()


def test_the_loser_of_a_contest_gets_a_warning() -> None:
    lost, won = claim("a.example", "prod", "web", "2025"), claim("a.example", "test", "web", "2024")
    notices = NoticeLog()

    contests = list(settle([lost, won], EMPTY, MEMORY, notices))

    assert contests == [Contest("a.example", (won,), None)]
    assert notices.sorted() == (
        Notice(
            Reason.HOST_CONFLICT,
            Ref("Ingress", "prod", "web"),
            "a.example goes to Ingress test/web, because it is older",
            "a.example",
        ),
    )


def test_an_incumbent_counts_only_while_its_namespace_claims_the_host() -> None:
    live = LiveResource("test", "x", "u", "a.example", {STACK_LABEL: "pic.prod"})
    web = claim("a.example", "prod", "web")

    contests = list(settle([web], Inventory([live], MEMORY), MEMORY, NoticeLog()))

    assert contests == [Contest("a.example", (web,), None)]


def test_only_an_ingress_has_claims() -> None:
    notices = NoticeLog()
    claims = Claims(Tunnels(Snapshot(), Settings()), EMPTY, Settings(), notices)

    assert list(claims.of_unreadable(Unreadable("Service", "prod", "web", "wrong"))) == []


def test_a_host_that_annotations_make_too_long_keeps_no_tunnel() -> None:
    ref = TunnelRef("edge", "net")
    labels = {STACK_LABEL: "pic.prod", NAME_LABEL: "web"}
    live = LiveResource("prod", "x", "u", "a.example.com", labels, spec=Spec(tunnel=ref))
    snapshot = Snapshot("cluster-1", tunnels=(Tunnel("net", "edge", status="Ready"),))
    inventory, notices = Inventory([live], MEMORY), NoticeLog()
    claims = Claims(Tunnels(snapshot, Settings()), inventory, Settings(), notices)
    ingress = Ingress("prod", "web", "uid-web", rules=(Rule("a.example.com"),))
    options = IngressOptions(subdomain=".".join(["l" * 60] * 4))

    assert list(claims.of(Selected(ingress, options, "edge"))) == []
    assert [notice.reason for notice in notices.sorted()] == [Reason.INVALID_HOST]
