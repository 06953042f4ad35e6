"""Demonstrates pic with a Pi-hole: `python -m dev.demo_pihole`, or `make demo-pihole`.

API server, engine, commands and dnsmasq are real. Pi-hole is a simulation with the measured API,
and crashes if two requests overlap, as Pi-hole does. Each step checks its own claims.
"""

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from time import monotonic

from dev import demo, standalone, toolchain
from dev.controlplane import ControlPlane, ControlPlaneError
from dev.demo import DemoError, print_command, say, step
from dev.pihole import PiHole, PiHoleError
from dev.probing import Probe
from dev.workspace import ROOT, Workspace, workspace
from pic.settings.stack_file import StackFile

STACK, NAMESPACE, EXAMPLE = "demo", "local-dns", "dev/examples/08-local-dns"
PASSWORD = "an app password of the demo"  # noqa: S105 - protects nothing
MANUAL = ("192.168.1.2 nas.lan # by hand, do not touch", "192.168.1.3 printer.lan")
FIRST_IP, NEW_IP, MEDIA_IP = "192.168.9.1", "192.168.9.2", "192.168.9.20"
HOSTS = ("backup", "backup.lan", "chat.lan", "git.lan", "photos.example.com", "wiki.lan")
MISTAKEN_NAMES = ("backup", "chat", "git", "media", "wiki")
REFUSED, FAILED, HELD = 3, 6, 8  # exit codes of pic
EXPECTED_ERRORS = (
    AssertionError,
    ControlPlaneError,
    DemoError,
    PiHoleError,
    toolchain.ToolchainError,
)

_DIGEST = re.compile(r"--acknowledge[ =]([0-9a-f]+)")


@dataclass(frozen=True)
class Demo:
    """The steps of the demo, with one cluster, one project and one Pi-hole."""

    plane: ControlPlane
    project: Workspace
    pihole: PiHole

    def prepare(self) -> None:
        """Bind a stack to the cluster and to Pi-hole, and create Ingresses."""
        self.kubectl("apply", "--server-side", "--filename", EXAMPLE)
        statuses = [*demo.Demo(self.plane, self.project).statuses()]
        self.plane.kubectl(
            *("apply", "--server-side", "--subresource=status", "--filename=-"),
            input=json.dumps({"apiVersion": "v1", "kind": "List", "items": statuses}),
        )
        self.pic("init", "--register-namespace", "kube-system", "--tunnel-namespace", NAMESPACE)
        say(
            "",
            "Three settings hold the targets, the URL of Pi-hole, and the address of the ingress",
            "controller. The password is only in the environment, in no file and in no state.",
        )
        settings = {"piholeUrl": self.pihole.url, "piholeTargetIp": FIRST_IP}
        self.settings(targets="pangolin,pihole", **settings)
        self.check(
            self.resolved("chat.lan", "nas.lan") == [[], ["192.168.1.2"]],
            "no host is registered yet",
        )

    def register(self) -> None:
        """Register every host."""
        self.pic("up")
        self.lines()
        self.check(self.resolved(*HOSTS) == [[FIRST_IP]] * len(HOSTS), "every host resolves")
        self.check(
            self.resolved("media.example.com", "tv.example.com") == [[MEDIA_IP]] * 2,
            "an Ingress may set its own address",
        )
        self.check(self.exposed() == ["photos.example.com"], "Pangolin exposes one of them too")
        self.check(
            self.managed_hosts("chat") == "chat.lan", "an annotation of the Ingress names its host"
        )

    def keep_manual(self) -> None:
        """Show that records made by hand stay as they are."""
        printed = self.pic("plan", "--quiet")
        self.check(
            "RecordConflict: Ingress local-dns/nas" in printed,
            "a manual record of nas.lan has another address: it stays, and pic warns",
        )
        self.check(
            "RecordExists: Ingress local-dns/printer" in printed,
            "a manual record of printer.lan has the wanted address: pic never deletes it",
        )
        self.check(self.foreign() == [*MANUAL], "both lines are unchanged, byte for byte")

    def move(self) -> None:
        """Change the address of all hosts while a probe queries them."""
        say(
            f"The ingress controller moves to {NEW_IP}. Meanwhile, a probe sends queries, one every"
            " 2 ms:"
        )
        self.settings(piholeTargetIp=NEW_IP)
        with Probe(self.pihole, HOSTS, (FIRST_IP, NEW_IP)) as probe:
            self.pic("up")
        counts = probe.counts
        self.check(
            self.resolved(*HOSTS) == [[NEW_IP]] * len(HOSTS), "every host has the new address"
        )
        self.check(
            (counts.missing, counts.unexpected) == (0, 0),
            f"all of {counts.queries:,} queries got an answer",
        )

    def mistake(self) -> None:
        """Remove most records by mistake; pic holds them."""
        say("A mistaken command removes the annotation from five Ingresses:")
        self.kubectl(*self.annotate_command(*MISTAKEN_NAMES, text="pihole.io/register-"))
        before = self.pihole.lines
        self.pic("up", code=HELD)
        self.check(self.pihole.lines == before, "pic holds them: every record still exists")
        self.kubectl(*self.annotate_command(*MISTAKEN_NAMES, text="pihole.io/register=true"))

    def lose(self) -> None:
        """Lose the state and run pic again."""
        say("", "$ rm -r state    # the bucket is gone, and with it the state of Pulumi")
        shutil.rmtree(self.project.state)
        self.project.state.mkdir()
        before, writes = self.pihole.lines, self.pihole.writes
        self.pic("up")
        self.check(
            (self.pihole.lines, self.pihole.writes) == (before, writes),
            "pic recognises its records by their marker: it imports all and writes nothing",
        )

    def outage(self) -> None:
        """Change Ingresses while Pi-hole is down."""
        say("Pi-hole is down. One Ingress wants one more record, and another wants Pangolin:")
        self.pihole.die("the demo stops it")
        self.kubectl(*self.annotate_command("chat", text="pihole.io/hosts=chat.lan,talk.lan"))
        command = ("patch", "ingress", "media", "--namespace", NAMESPACE, "--type=merge")
        self.kubectl(*command, '--patch={"spec":{"ingressClassName":"pangolin"}}')
        self.pic("up", code=FAILED)
        self.check(
            "tv.example.com" in self.exposed(),
            "Pangolin is up to date, and the exit code reports the failure",
        )
        self.pihole.restart()
        self.pic("up")
        self.check(self.resolved("talk.lan") == [[NEW_IP]], "the next run creates the record")

    def destroy(self) -> None:
        """Destroy the stack."""
        printed = self.pic("destroy", code=REFUSED)
        match = _DIGEST.search(printed)
        if match is None:
            raise DemoError("the refusal names no acknowledgement")
        self.pic("destroy", "--acknowledge", match[1])
        self.lines()
        self.check(self.pihole.lines == [*MANUAL], "only the manual records are left")
        at_once, sessions = self.pihole.most_at_once, self.pihole.sessions
        self.check(
            (at_once, sessions) == (1, 0), "requests never overlapped, and no session is left"
        )

    def resolved(self, *names: str) -> list[list[str]]:
        """Return the addresses of names, by DNS."""
        return [self.pihole.ask(name) for name in names]

    def foreign(self) -> list[str]:
        """Return the foreign lines."""
        return [line for line in self.pihole.lines if "# k8s:" not in line]

    def exposed(self) -> list[str]:
        """Return the hosts of the live PangolinResources."""
        path = "jsonpath={.items[*].spec.name}"
        return self.plane.kubectl("get", "pangolinresources", "-A", "--output", path).split()

    def managed_hosts(self, name: str) -> str:
        """Return the annotation of an Ingress with its managed hosts."""
        path = r"jsonpath={.metadata.annotations.pihole\.io/managed-hosts}"
        return self.plane.kubectl("get", "ingress", name, "-n", NAMESPACE, "--output", path)

    def annotate_command(self, *names: str, text: str) -> Sequence[str]:
        """Return the arguments of kubectl that annotate Ingresses."""
        return ("annotate", "--overwrite", "ingress", *names, "--namespace", NAMESPACE, text)

    def check(self, holds: bool, claim: str) -> None:  # noqa: FBT001 - reads as a sentence
        """Check a claim of a step and print it."""
        if not holds:
            self.lines()
            raise DemoError(f"this is not true: {claim}")
        say(f"✓ {claim}")

    def lines(self) -> None:
        """Print the records of Pi-hole."""
        say("", "Pi-hole has:", *(f"  {line}" for line in self.pihole.lines))

    def settings(self, **values: str) -> None:
        """Write settings into the stack file and print them."""
        StackFile(self.project.path, STACK).merge(values)
        lines = (f"  pic:{key}: {value}" for key, value in values.items())
        say("", f"stacks/Pulumi.{STACK}.yaml", *lines)

    def kubectl(self, *arguments: str) -> str:
        """Print and run a kubectl command."""
        print_command("kubectl", *arguments)
        return self.plane.kubectl(*arguments)

    def pic(self, verb: str, *arguments: str, code: int = 0) -> str:
        """Print and run a pic command, print its output, and check its exit code."""
        printed = self.run("pic", verb, "--stack", STACK, *arguments, code=code)
        say(printed.rstrip())
        return printed

    def run(self, *command: str, code: int = 0) -> str:
        """Print and run a command in the project, and check its exit code."""
        print_command(*command)
        arguments = command
        if command[0] == "pic":
            arguments = (str(self.project.python), "-m", *command)
        result = self.project.run(*arguments, check=False)
        if result.returncode != code:
            raise DemoError(
                f"{shlex.join(command)} ended with {result.returncode}, expected {code}:\n"
                f"{result.stdout}"
            )
        return result.stdout


def run() -> None:
    """Start everything, run the steps, and remove everything."""
    os.chdir(ROOT)
    tools = toolchain.resolve(echo=lambda line: print(line, file=sys.stderr))
    with ExitStack() as stack:
        with step("A Kubernetes API server, and a Pi-hole with two manual records"):
            plane = stack.enter_context(ControlPlane(crds="targets", binaries=tools.controlplane))
            pihole = stack.enter_context(PiHole(password=PASSWORD, records=MANUAL, dns=True))
            extra = {"PIHOLE_PASSWORD": PASSWORD, "PULUMI_OPTION_COLOR": "never"}
            project = stack.enter_context(workspace(tools, plane.kubeconfig, **extra))
            steps = Demo(plane, project, pihole)
            steps.prepare()
        for title, run_step in (
            ("pic up registers every host whose Ingress asks for it", steps.register),
            ("Manual records stay as they are", steps.keep_manual),
            ("A new address, without a gap in DNS", steps.move),
            ("A mistake: too many removals wait for an acknowledgement", steps.mistake),
            ("A lost state", steps.lose),
            ("Pi-hole is down", steps.outage),
            ("The end", steps.destroy),
        ):
            with step(title):
                run_step()


def main() -> int:
    """Run the demo and return its exit code."""
    start = monotonic()
    code = standalone.main("demo", run, EXPECTED_ERRORS)
    if code == 0:
        say(
            "", f"The demo took {monotonic() - start:.0f} s; cluster, Pi-hole and project are gone."
        )
    return code


if __name__ == "__main__":
    sys.exit(main())
