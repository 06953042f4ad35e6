"""Tests the development control plane, on which other tests rely."""

import base64
import json
import os
import re
import select
import signal
import socket
import ssl
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

from dev.controlplane import ControlPlane, ControlPlaneError
from dev.controlplane.ports import ReservedPort
from dev.controlplane.workdir import WorkDir
from dev.toolchain import ControlPlaneBinaries

ROOT = Path(__file__).parents[2]
SECONDS = 20

INGRESS = """
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}
"""
OWNED = """
apiVersion: tunnel.pangolin.io/v1alpha1
kind: PangolinResource
metadata:
  name: web
  ownerReferences:
    - {apiVersion: networking.k8s.io/v1, kind: Ingress, name: web, uid: UID, controller: true,
       blockOwnerDeletion: true}
spec: {protocol: http}
"""
MAY_READ = """
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader}
rules: [{apiGroups: [networking.k8s.io], resources: [ingresses], verbs: [list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: readers}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: team-a}]
"""


def create_owned(plane: ControlPlane, namespace: str) -> None:
    """Create an Ingress, and a PangolinResource that it owns."""
    create = ("create", f"--namespace={namespace}", "--filename=-")
    uid = plane.kubectl(*create, "--output=jsonpath={.metadata.uid}", input=INGRESS)
    plane.kubectl(*create, input=OWNED.replace("UID", uid))


def await_deletion(plane: ControlPlane, namespace: str) -> None:
    plane.kubectl(
        *("wait", "--for=delete", "pangolinresource/web"),
        *(f"--namespace={namespace}", f"--timeout={SECONDS}s"),
    )


def test_a_user_without_a_role_cannot_read_ingresses(control_plane: ControlPlane) -> None:
    with pytest.raises(ControlPlaneError) as raised:
        control_plane.kubectl("get", "ingresses", "-A", "--token", control_plane.token("nobody"))

    assert str(raised.value).partition("Error from server ")[2] == (
        '(Forbidden): ingresses.networking.k8s.io is forbidden: User "nobody" cannot list resource '
        '"ingresses" in API group "networking.k8s.io" at the cluster scope'
    )


def test_a_role_of_a_group_applies_to_its_users(
    control_plane: ControlPlane, namespace: str
) -> None:
    control_plane.kubectl("create", "-n", namespace, "-f", "-", input=MAY_READ)
    create = ("create", f"--namespace={namespace}", "--filename=-")
    control_plane.kubectl(*create, input=INGRESS)
    command = ("get", "ingresses", f"--namespace={namespace}", "--output=name", "--token")

    printed = control_plane.kubectl(*command, control_plane.token("alice", groups=["team-a"]))

    assert printed == "ingress.networking.k8s.io/web\n"


def test_a_service_account_has_its_own_kubeconfig(
    control_plane: ControlPlane, namespace: str
) -> None:
    kubeconfig = control_plane.kubeconfig_for(f"system:serviceaccount:{namespace}:reader")

    printed = control_plane.kubectl("auth", "whoami", "-o", "json", "--kubeconfig", str(kubeconfig))

    user = json.loads(printed)["status"]["userInfo"]
    assert (user["username"], user["groups"]) == (
        f"system:serviceaccount:{namespace}:reader",
        ["system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated"],
    )


def test_the_token_of_an_unknown_user_is_an_error(control_plane: ControlPlane) -> None:
    with pytest.raises(
        ControlPlaneError, match=r"no user carol in groups \[\] exists; the users are "
    ):
        control_plane.token("carol")


def connect(plane: ControlPlane, tls: ssl.SSLContext) -> None:
    """Open and close a connection."""
    url = urlsplit(plane.server)
    with (
        socket.create_connection((url.hostname, url.port), timeout=SECONDS) as plain,
        tls.wrap_socket(plain, server_hostname=url.hostname),
    ):
        pass


def test_a_client_with_the_authority_of_the_kubeconfig_connects(
    control_plane: ControlPlane,
) -> None:
    cluster = yaml.safe_load(control_plane.kubeconfig.read_text())["clusters"][0]["cluster"]
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()

    connect(control_plane, ssl.create_default_context(cadata=authority))


def test_a_client_without_the_certificate_authority_does_not_connect(
    control_plane: ControlPlane,
) -> None:
    with pytest.raises(ssl.SSLCertVerificationError, match="CERTIFICATE_VERIFY_FAILED"):
        connect(control_plane, ssl.create_default_context())


def test_an_object_is_deleted_after_the_ingress_that_owns_it(
    control_plane: ControlPlane, namespace: str
) -> None:
    create_owned(control_plane, namespace)

    control_plane.kubectl("delete", "ingress", "web", "--namespace", namespace)

    await_deletion(control_plane, namespace)


def test_a_foreground_deletion_also_deletes_owned_objects(
    control_plane: ControlPlane, namespace: str
) -> None:
    create_owned(control_plane, namespace)

    control_plane.kubectl(
        *("delete", "ingress", "web", "--cascade=foreground"),
        *(f"--namespace={namespace}", f"--timeout={SECONDS}s"),
    )

    await_deletion(control_plane, namespace)


def test_objects_of_kinds_installed_later_are_garbage_collected(
    older_control_plane: ControlPlane,
) -> None:
    definitions = ("crd", "--all", "--wait", f"--timeout={SECONDS}s")
    older_control_plane.kubectl("delete", *definitions)

    older_control_plane.install_crds("target")

    create_owned(older_control_plane, "default")
    older_control_plane.kubectl("delete", "ingress", "web")
    await_deletion(older_control_plane, "default")


def test_a_killed_api_server_restarts_with_its_data(
    older_control_plane: ControlPlane,
) -> None:
    create_owned(older_control_plane, "default")
    before = older_control_plane.kubeconfig.read_text()

    older_control_plane.stop_apiserver()
    try:
        with pytest.raises(ControlPlaneError, match=r"The connection to the server .* was refused"):
            older_control_plane.kubectl("get", "ingress")
    finally:
        older_control_plane.start_apiserver()

    assert older_control_plane.kubeconfig.read_text() == before
    older_control_plane.kubectl("delete", "ingress", "web")
    await_deletion(older_control_plane, "default")


def test_two_control_planes_are_independent(
    control_plane: ControlPlane, older_control_plane: ControlPlane, namespace: str
) -> None:
    name = control_plane.kubectl("get", "namespace", namespace, "--output=name")
    with pytest.raises(ControlPlaneError) as raised:
        older_control_plane.kubectl("get", "namespace", namespace)

    assert name == f"namespace/{namespace}\n"
    assert str(raised.value) == (
        f"kubectl get namespace {namespace}: "
        f'Error from server (NotFound): namespaces "{namespace}" not found'
    )


def test_the_error_names_a_program_that_cannot_be_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    idle = (sys.executable, "-c", "import signal; signal.pause()")
    binaries = ControlPlaneBinaries(("no-such-program",), idle, idle, idle)

    with pytest.raises(ControlPlaneError) as raised, ControlPlane(binaries=binaries):
        pass

    assert str(raised.value) == (
        "etcd ended while waiting for certificate:\n"
        "  etcd: cannot run no-such-program: No such file or directory"
    )
    assert list(tmp_path.iterdir()) == []


OWNER = """
import json, sys
from dev.controlplane import ControlPlane

with ControlPlane(crds=None) as plane:
    print(json.dumps(list(plane.pids.values())), flush=True)
    sys.stdin.read()
"""


def test_nothing_outlives_a_killed_process(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as owner:
        assert owner.stdout is not None
        handles = [os.pidfd_open(pid) for pid in json.loads(owner.stdout.readline())]
        owner.kill()

    ended = [select.select([handle], [], [], SECONDS)[0] for handle in handles]

    assert ended == [[handle] for handle in handles]
    assert len(ended) == 3
    for handle in handles:
        os.close(handle)
    assert [path.name[:17] for path in tmp_path.iterdir()] == ["pic-controlplane-"]
    workdir = WorkDir(tmp_path)  # the next control plane does the same
    assert list(tmp_path.iterdir()) == [workdir.path]
    workdir.remove()


def test_only_sockets_with_the_same_option_can_bind_a_reserved_port() -> None:
    port = ReservedPort()
    with socket.socket() as other, socket.socket() as sharing:
        sharing.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)

        with pytest.raises(OSError, match="Address already in use"):
            other.bind(("127.0.0.1", port.number))
        sharing.bind(("127.0.0.1", port.number))
    port.release()


def test_the_directory_of_a_running_owner_is_not_removed(tmp_path: Path) -> None:
    first, second = WorkDir(tmp_path), WorkDir(tmp_path)

    assert sorted(tmp_path.iterdir()) == sorted([first.path, second.path])
    first.remove()
    second.remove()


def test_the_foreground_cluster_prints_how_to_use_it_and_ends_quietly(tmp_path: Path) -> None:
    record = tmp_path / "kubeconfig"
    module = [sys.executable, "-m", "dev.controlplane"]
    with subprocess.Popen(
        [*module, "--record", str(record)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as cluster:
        assert cluster.stdout is not None
        line = cluster.stdout.readline()
        names = subprocess.run(
            [*module, "kubectl", "--", "get", "crds", "--output=name"],
            cwd=ROOT,
            env={**os.environ, "KUBECONFIG": str(record), "KUBECACHEDIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        cluster.send_signal(signal.SIGINT)
        _, messages = cluster.communicate(timeout=SECONDS)

    assert line == f"export KUBECONFIG={record}\n"
    assert re.findall(r"/(\w+)\.", names) == [
        "pangolinbindings",
        "pangolinorganizations",
        "pangolinresources",
        "pangolintunnels",
    ]
    assert (cluster.returncode, record.exists()) == (0, False)
    first, *_, last = re.sub(r":\d+", ":PORT", messages).splitlines()
    assert first == "starting a control plane"
    assert last == "https://127.0.0.1:PORT serves until Ctrl-C"
