"""Tests who claims a host, and who gets a contested one."""

from pic.core.ingress import Ingress
from pic.core.model import LiveResource, Snapshot, Unreadable
from pic.core.names import STACK_LABEL
from pic.core.notices import Notice, Reason, Ref
from pic.planning.claims import Claim, Claims, Contest, settle
from pic.planning.notice_log import NoticeLog
from pic.planning.ownership import Inventory, Ownership
from pic.planning.tunnels import Tunnels
from pic.settings.parse import Settings

EMPTY = Inventory((), Ownership("pic.prod"))


def claim(host: str, namespace: str, name: str, created: str = "") -> Claim:
    return Claim(host, Ingress(namespace, name, f"uid-{name}", created))


def test_contests_are_sorted_by_host_with_the_oldest_claim_first() -> None:
    young, old = (
        claim("b.example", "prod", "young", "2025"),
        claim("b.example", "prod", "old", "2024"),
    )
    other = claim("a.example", "prod", "other")
    notices = NoticeLog()

    contests = list(settle([young, other, old], EMPTY, notices))

    assert contests == [
        Contest("a.example", (other,), None),
        Contest("b.example", (old, young), None),
    ]
    assert notices.sorted() == ()


def test_the_loser_of_a_contest_gets_a_warning() -> None:
    lost, won = claim("a.example", "prod", "web", "2025"), claim("a.example", "test", "web", "2024")
    notices = NoticeLog()

    contests = list(settle([lost, won], EMPTY, notices))

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

    contests = list(settle([web], Inventory([live], Ownership("pic.prod")), NoticeLog()))

    assert contests == [Contest("a.example", (web,), None)]


def test_only_an_ingress_has_claims() -> None:
    notices = NoticeLog()
    claims = Claims(Tunnels(Snapshot(), Settings()), EMPTY, Settings(), notices)

    assert list(claims.of_unreadable(Unreadable("Service", "prod", "web", "wrong"))) == []
