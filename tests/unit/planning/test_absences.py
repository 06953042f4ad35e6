"""Tests what a plan from files says about objects that the files lack."""

from pic.core.files import FilesRead
from pic.planning.absences import Absences

PARTIAL = FilesRead(partial=True)


def test_a_cluster_and_complete_files_lack_nothing_that_exists() -> None:
    for absences in (Absences(), Absences(FilesRead())):
        assert not absences.tolerates("Service", "prod", "web")
        assert list(absences.notices()) == []


def test_one_notice_for_each_kind_counts_the_objects_and_names_some() -> None:
    absences = Absences(PARTIAL)
    for name in ("e", "d", "c", "b", "a", "a"):
        assert absences.tolerates("Service", "prod", name)
    absences.tolerates("PangolinTunnel", "net", "edge")

    tunnel, service = absences.notices()

    assert str(service.about) == "prod/a"
    assert service.message == (
        "5 Services that Ingresses need (prod/a, prod/b, prod/c and 2 more) are not in the files,"
        " which have others of this kind, so pic takes their port numbers as they are: pass"
        " --complete if the files hold everything"
    )
    assert tunnel.message.startswith("1 PangolinTunnel that an Ingress needs is not in the files")
