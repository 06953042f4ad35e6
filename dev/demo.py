"""Show on a real cluster what pic does: `python -m dev.demo`, or `make demo`.

The Kubernetes API server, the Pulumi engine and the commands are real, and thrown away in the end.
Each step checks that it shows what it says.
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
from dev.demo_text import diagnostics, trimmed
from dev.pangolin import verified
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
TROUBLE = (AssertionError, ControlPlaneError, toolchain.ToolchainError)


class DemoError(Exception):
    """A step did not show what it says."""


@dataclass(frozen=True)
class Demo:
    """The steps, in one cluster and one project."""

    plane: ControlPlane
    project: Workspace
    told: set[str] = field(default_factory=set)

    def examples(self) -> None:
        """Fill the cluster with Ingresses."""
        for example in EXAMPLES:
            self.kubectl("apply", "--server-side", "--filename", f"dev/examples/{example}")
        say("The Pangolin operator would now report domains and tunnels as ready; so do we.")
        self.plane.kubectl(
            *("apply", "--server-side", "--subresource=status", "--filename=-"),
            input=json.dumps({"apiVersion": "v1", "kind": "List", "items": [*self.reports()]}),
        )
        print(self.kubectl("get", "ingress", "--all-namespaces"))
        self.expect(set(), "no host is exposed yet")

    def bind(self) -> None:
        """Write the stack file."""
        print(self.run("pic", "init", "--stack", STACK))
        self.run("pulumi", "stack", "init", STACK)

    def first(self) -> None:
        """Expose every host."""
        self.engine(self.run("pulumi", "up", "--yes", "--skip-preview"))
        self.table()
        self.expect(FIRST, "every public host has one PangolinResource")

    def day(self) -> None:
        """Change a few Ingresses, look at the difference, and apply it."""
        say("One Ingress gains a host, one loses one, and one is deleted:")
        more = [{"op": "add", "path": "/spec/rules/-", "value": _rule("welcome.example.com")}]
        less = [{"op": "remove", "path": "/spec/rules/1"}]
        self.patch("one-host", ("hello",), "json", more)
        self.patch("duplicate-hosts", ("wiki",), "json", less)
        self.kubectl("delete", "ingress", "--namespace", "login-and-block", "open")
        Deadline(30).until(
            lambda: "open.example.com" not in self.hosts(), "collection of open.example.com"
        )
        say(
            "Kubernetes itself has collected the object of the deleted Ingress, through its",
            "ownerReference, before pic runs. The other two are a difference to look at:",
        )
        before = FIRST - {"open.example.com"}
        self.engine(self.run("pulumi", "preview", "--diff"))
        self.expect(before, "a preview changes nothing")
        self.engine(self.run("pulumi", "up", "--yes", "--skip-preview"))
        self.table()
        self.expect(self.day_after, "just these two hosts have changed")

    def mistake(self) -> None:
        """Take seven hosts away by mistake, and be stopped."""
        say("A mistaken patch gives seven Ingresses another class:")
        for namespace, names in MISTAKEN.items():
            body = {"spec": {"ingressClassName": "nginx"}}
            self.patch(namespace, names, "merge", body)
        printed = self.run("pulumi", "up", "--yes", "--skip-preview", fails=True)
        self.engine(printed)
        self.expect(self.day_after, "nothing has changed: every host is still there")
        found = re.search(r"PIC_ACKNOWLEDGE=([0-9a-f]+) pulumi up", printed)
        if found is None:
            raise DemoError("the refusal names no acknowledgement")
        say("", "Had it been no mistake, the acknowledgement lets exactly these removals through:")
        acknowledged = self.run(
            "pulumi", "up", "--yes", "--skip-preview", env={"PIC_ACKNOWLEDGE": found[1]}
        )
        self.engine(acknowledged)
        self.table()
        self.expect(self.day_after - MISTAKEN_HOSTS, "these seven hosts are gone, and no other")

    @property
    def day_after(self) -> set[str]:
        """The hosts after an ordinary day."""
        gone = {"handbook.example.com", "open.example.com"}
        return (FIRST | {"welcome.example.com"}) - gone

    def reports(self) -> Iterator[Mapping[str, object]]:
        """Yield what the operator would write into the status of organisations and tunnels."""
        listed = self.plane.kubectl(
            *("get", "pangolinorganizations,pangolintunnels", "-A", "--output=json")
        )
        for item in json.loads(listed)["items"]:
            status: dict[str, object] = {"status": "Ready"}
            if item["kind"] == "PangolinOrganization":
                status["domains"] = [_domain(item["spec"]["defaults"]["defaultDomain"])]
            metadata = {key: item["metadata"][key] for key in ("name", "namespace")}
            kind = {key: item[key] for key in ("apiVersion", "kind")}
            yield {**kind, "metadata": metadata, "status": status}

    def hosts(self) -> list[str]:
        """Return the hosts of the live objects."""
        path = "jsonpath={.items[*].spec.name}"
        return self.plane.kubectl("get", "pangolinresources", "-A", "--output", path).split()

    def engine(self, printed: str) -> None:
        """Show what matters of the engine's output; a warning that it repeats, only once."""
        say(trimmed(printed, self.told), "")
        self.told.update(diagnostics(printed))

    def expect(self, wanted: set[str], what: str) -> None:
        """Check the live hosts against what a step says of them."""
        found = self.hosts()
        if sorted(found) != sorted(wanted):
            raise DemoError(f"not so: {what}; the hosts are {', '.join(sorted(found)) or 'none'}")
        say(f"✓ {what}")

    def table(self) -> None:
        """Show the live objects."""
        columns = f"custom-columns={COLUMNS}"
        print(self.kubectl("get", "pangolinresources", "--all-namespaces", "--output", columns))

    def patch(self, namespace: str, names: tuple[str, ...], how: str, body: object) -> None:
        """Patch Ingresses."""
        text = json.dumps(body, separators=(",", ":"))
        self.kubectl(
            *("patch", "ingress", *names, "--namespace", namespace, "--type", how, "--patch", text)
        )

    def kubectl(self, *arguments: str) -> str:
        """Show and run a command of kubectl."""
        show("kubectl", *arguments)
        return self.plane.kubectl(*arguments)

    def run(self, *command: str, fails: bool = False, env: Mapping[str, str] | None = None) -> str:
        """Show and run a command in the project, and check whether it fails as it should."""
        show(*(f"{key}={value}" for key, value in (env or {}).items()), *command)
        words = command
        if command[0] == "pic":
            words = (str(self.project.python), "-m", *command)
        done = self.project.run(*words, check=not fails, env=env)
        if fails and done.returncode == 0:
            raise DemoError(f"{shlex.join(command)} should have been refused")
        return done.stdout


def _rule(host: str) -> Mapping[str, object]:
    backend = {"service": {"name": "hello", "port": {"number": 80}}}
    path = {"path": "/", "pathType": "Prefix", "backend": backend}
    return {"host": host, "http": {"paths": [path]}}


def _domain(base: str) -> Mapping[str, object]:
    return {**verified(base), "domainId": base.replace(".", "-")}


def say(*lines: str) -> None:
    """Print for people."""
    print(*lines, sep="\n", flush=True)


def show(*command: str) -> None:
    """Print a command as it is typed."""
    typed = (word if word.startswith("PIC_") else shlex.quote(word) for word in command)
    say("", f"$ {' '.join(typed)}")


@contextmanager
def step(title: str) -> Iterator[None]:
    """Print the heading of a step, and in the end how long it took."""
    say("", f"━━ {title}")
    began = monotonic()
    yield
    say(f"   ({monotonic() - began:.1f} s)")


def run() -> None:
    """Start everything, go through the steps, and remove everything."""
    os.chdir(ROOT)
    tools = toolchain.resolve(echo=lambda line: print(line, file=sys.stderr))
    with ExitStack() as stack:
        with step("A Kubernetes API server of our own, with the CRDs of Pangolin's operator"):
            plane = stack.enter_context(ControlPlane(crds="targets", binaries=tools.controlplane))
            project = stack.enter_context(workspace(tools, plane.kubeconfig, **SETTINGS))
            demo = Demo(plane, project)
        with step("Ingresses, as teams have them"):
            demo.examples()
        with step("pic init binds a stack to this one cluster"):
            demo.bind()
        with step("pulumi up gives every public host its PangolinResource"):
            demo.first()
        with step("An ordinary day: what changes can be looked at before it happens"):
            demo.day()
        with step("A mistake: too many removals are refused before anything happens"):
            demo.mistake()


def main() -> int:
    """Run the demo and return its exit code."""
    began = monotonic()
    code = standalone.main("demo", run, (DemoError, *TROUBLE))
    if code == 0:
        say("", f"The demo took {monotonic() - began:.0f} s; the cluster and the project are gone.")
    return code


if __name__ == "__main__":
    sys.exit(main())
