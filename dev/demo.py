"""Shows on a real cluster what pic does: `python -m dev.demo`, or `make demo`.

The Kubernetes API server, the Pulumi engine and the commands are real; all of them end with the
demo. Each step checks what it claims.
"""

import json
import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from time import monotonic

from dev import standalone, toolchain
from dev.controlplane import ControlPlane, ControlPlaneError
from dev.controlplane.processes import Deadline
from dev.demo_text import diagnostics, summary
from dev.pangolin import verified_domain
from dev.workspace import ROOT, Workspace, workspace

STACK = "demo"
EXAMPLES = (
    "01-one-host",
    "02-many-hosts-and-paths",
    "03-duplicate-hosts-merged",
    "04-classes-and-tunnels",
    "05-login-and-block",
)
FIRST = {
    *("hello.example.com", "shop.example.com", "shop-admin.example.com"),
    *("shop-metrics.example.com", "wiki.example.com", "handbook.example.com", "world.example.com"),
    *("world.example.eu", "lab.example.com", "classic.example.com", "open.example.com"),
    *("login.example.com", "blocked.example.com", "unreadable.example.com"),
}
MISTAKEN = {
    "classes": ("by-annotation", "by-class", "by-class-eu", "by-older-annotation"),
    "login-and-block": ("blocked", "login", "unreadable"),
}
MISTAKEN_HOSTS = {
    *("lab.example.com", "world.example.com", "world.example.eu", "classic.example.com"),
    *("blocked.example.com", "login.example.com", "unreadable.example.com"),
}
COLUMNS = (
    "NAMESPACE:.metadata.namespace,HOST:.spec.name,TUNNEL:.spec.tunnelRef.name,"
    "LOGIN:.spec.httpConfig.sso,BLOCKED:.spec.httpConfig.blockAccess"
)
SETTINGS = {
    "PULUMI_OPTION_COLOR": "never",
    "PULUMI_OPTION_NON_INTERACTIVE": "true",
    "PULUMI_OPTION_SUPPRESS_OUTPUTS": "true",
    "PULUMI_OPTION_SUPPRESS_PROGRESS": "true",
}
EXPECTED_ERRORS = (AssertionError, ControlPlaneError, toolchain.ToolchainError)


class DemoError(Exception):
    """Says which claim of a step is not true."""


@dataclass(frozen=True)
class Demo:
    """Runs the steps in one cluster and one project."""

    plane: ControlPlane
    project: Workspace
    shown: set[str] = field(default_factory=set)

    def examples(self) -> None:
        """Create the Ingresses of the examples."""
        for example in EXAMPLES:
            self.kubectl("apply", "--server-side", "--filename", f"dev/examples/{example}")
        say("", "No Pangolin operator runs here, so the demo reports domains and tunnels as ready.")
        self.plane.kubectl(
            *("apply", "--server-side", "--subresource=status", "--filename=-"),
            input=json.dumps({"apiVersion": "v1", "kind": "List", "items": [*self.statuses()]}),
        )
        say(self.kubectl("get", "ingress", "--all-namespaces").rstrip())
        self.expect(set(), "no host is exposed yet")

    def bind(self) -> None:
        """Write the stack file."""
        # Each example has a namespace with a tunnel of its own. The register needs a namespace that
        # only administrators may write.
        flags = ("--register-namespace", "kube-system", "--config", "tunnelNamespaces=.")
        say(self.run("pic", "init", "--stack", STACK, *flags).rstrip())
        self.run("pulumi", "stack", "init", STACK)

    def first(self) -> None:
        """Deploy for the first time."""
        self.report(self.run("pulumi", "up", "--yes", "--skip-preview"))
        self.table()
        self.expect(FIRST, "every public host has exactly one PangolinResource")

    def change(self) -> None:
        """Change a few Ingresses, preview the difference, and apply it."""
        say("One Ingress gets another host, one loses a host, and one is deleted:")
        more = [{"op": "add", "path": "/spec/rules/-", "value": _rule("welcome.example.com")}]
        less = [{"op": "remove", "path": "/spec/rules/1"}]
        self.patch("one-host", ("hello",), "json", more)
        self.patch("duplicate-hosts", ("wiki",), "json", less)
        self.kubectl("delete", "ingress", "--namespace", "login-and-block", "open")
        Deadline(30).until(
            lambda: "open.example.com" not in self.hosts(), "deletion of open.example.com"
        )
        say(
            "",
            "Kubernetes has already deleted the PangolinResource of the deleted Ingress, because",
            "the Ingress owned it. The other two changes show up in a preview:",
        )
        before = FIRST - {"open.example.com"}
        self.report(self.run("pulumi", "preview", "--diff"))
        self.expect(before, "a preview changes nothing")
        self.report(self.run("pulumi", "up", "--yes", "--skip-preview"))
        self.table()
        self.expect(self.hosts_after_change, "only these two hosts have changed")

    def mistake(self) -> None:
        """Remove seven hosts by mistake; pic holds them."""
        say("By mistake, seven Ingresses get another class:")
        for namespace, names in MISTAKEN.items():
            body = {"spec": {"ingressClassName": "nginx"}}
            self.patch(namespace, names, "merge", body)
        printed = self.run("pulumi", "up", "--yes", "--skip-preview")
        self.report(printed)
        self.expect(self.hosts_after_change, "nothing has changed: every host is still exposed")
        match = re.search(r"PIC_ACKNOWLEDGE=([0-9a-f]+) pulumi up", printed)
        if match is None:
            raise DemoError("what is held has no acknowledgement to pass on")
        say("", "If this was intended, the acknowledgement allows exactly these removals:")
        acknowledged = self.run(
            "pulumi", "up", "--yes", "--skip-preview", env={"PIC_ACKNOWLEDGE": match[1]}
        )
        self.report(acknowledged)
        self.table()
        hosts = self.hosts_after_change - MISTAKEN_HOSTS
        self.expect(hosts, "these seven hosts are removed, and no others")

    @property
    def hosts_after_change(self) -> set[str]:
        """The hosts that `change` leaves."""
        removed = {"handbook.example.com", "open.example.com"}
        return (FIRST | {"welcome.example.com"}) - removed

    def statuses(self) -> Iterator[Mapping[str, object]]:
        """Yield the status that the operator would write for organizations and tunnels."""
        answer = self.plane.kubectl(
            *("get", "pangolinorganizations,pangolintunnels", "-A", "--output=json")
        )
        for item in json.loads(answer)["items"]:
            status: dict[str, object] = {"status": "Ready"}
            if item["kind"] == "PangolinOrganization":
                status["domains"] = [_domain(item["spec"]["defaults"]["defaultDomain"])]
            metadata = {key: item["metadata"][key] for key in ("name", "namespace")}
            kind = {key: item[key] for key in ("apiVersion", "kind")}
            yield {**kind, "metadata": metadata, "status": status}

    def hosts(self) -> list[str]:
        """Return the hosts of the PangolinResources in the cluster."""
        path = "jsonpath={.items[*].spec.name}"
        return self.plane.kubectl("get", "pangolinresources", "-A", "--output", path).split()

    def report(self, printed: str) -> None:
        """Print a summary of the engine's output, without messages that were printed before."""
        say(summary(printed, self.shown))
        self.shown.update(diagnostics(printed))

    def expect(self, expected: set[str], claim: str) -> None:
        """Check the hosts in the cluster, and print the claim that they prove."""
        hosts = self.hosts()
        if sorted(hosts) != sorted(expected):
            names = ", ".join(sorted(hosts)) or "none"
            raise DemoError(f"not true: {claim}; the hosts are {names}")
        say("", f"✓ {claim}")

    def table(self) -> None:
        """Print the PangolinResources in the cluster."""
        columns = f"custom-columns={COLUMNS}"
        command = ("get", "pangolinresources", "--all-namespaces", "--output", columns)
        say(self.kubectl(*command).rstrip())

    def patch(self, namespace: str, names: tuple[str, ...], how: str, body: object) -> None:
        """Patch some Ingresses of a namespace."""
        text = json.dumps(body, separators=(",", ":"))
        self.kubectl(
            *("patch", "ingress", *names, "--namespace", namespace, "--type", how, "--patch", text)
        )

    def kubectl(self, *arguments: str) -> str:
        """Print and run a kubectl command."""
        print_command("kubectl", *arguments)
        return self.plane.kubectl(*arguments)

    def run(self, *command: str, env: Mapping[str, str] | None = None) -> str:
        """Print and run a command in the project."""
        print_command(*(f"{key}={value}" for key, value in (env or {}).items()), *command)
        words = command
        if command[0] == "pic":
            words = (str(self.project.python), "-m", *command)
        return self.project.run(*words, env=env).stdout


def _rule(host: str) -> Mapping[str, object]:
    backend = {"service": {"name": "hello", "port": {"number": 80}}}
    path = {"path": "/", "pathType": "Prefix", "backend": backend}
    return {"host": host, "http": {"paths": [path]}}


def _domain(base: str) -> Mapping[str, object]:
    return {**verified_domain(base), "domainId": base.replace(".", "-")}


def say(*lines: str) -> None:
    """Print lines at once."""
    print(*lines, sep="\n", flush=True)


def print_command(*command: str) -> None:
    """Print a command as a user would type it."""
    typed = (word if word.startswith("PIC_") else shlex.quote(word) for word in command)
    say("", f"$ {' '.join(typed)}")


@contextmanager
def step(title: str) -> Iterator[None]:
    """Print the title of a step, and at its end how long it took."""
    say("", f"━━ {title}")
    began = monotonic()
    yield
    say(f"   ({monotonic() - began:.1f} s)")


def run() -> None:
    """Start everything, run the steps, and remove everything."""
    os.chdir(ROOT)
    tools = toolchain.resolve(echo=lambda line: print(line, file=sys.stderr))
    with ExitStack() as stack:
        with step("Start a Kubernetes API server with the CRDs of the Pangolin operator"):
            plane = stack.enter_context(ControlPlane(crds="targets", binaries=tools.controlplane))
            project = stack.enter_context(workspace(tools, plane.kubeconfig, **SETTINGS))
            demo = Demo(plane, project)
        with step("Create the Ingresses of five example teams"):
            demo.examples()
        with step("Bind a stack to this cluster"):
            demo.bind()
        with step("Deploy: every public host gets a PangolinResource"):
            demo.first()
        with step("Change three Ingresses: preview the difference, then apply it"):
            demo.change()
        with step("Make a mistake: pic holds what would remove many hosts at once"):
            demo.mistake()


def main(environment: Mapping[str, str] = os.environ) -> int:
    """Run the demo and return its exit code."""
    began = monotonic()
    code = standalone.main("demo", run, (DemoError, *EXPECTED_ERRORS), environment)
    if code == 0:
        seconds = monotonic() - began
        say("", f"The demo took {seconds:.0f} s. The cluster and the project are removed.")
    return code


if __name__ == "__main__":
    sys.exit(main())
