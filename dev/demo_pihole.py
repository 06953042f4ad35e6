"""Show what pic does with a Pi-hole: `python -m dev.demo_pihole`, or `make demo-pihole`.

API server, engine, commands and dnsmasq are real. Pi-hole is a stand-in that speaks its API as it
was measured, and that dies of two requests at once, as Pi-hole does. Each step checks that it shows
what it says.
"""

import json
import os
import re
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
BY_HAND = ("192.168.1.2 nas.lan # by hand, do not touch", "192.168.1.3 printer.lan")
USUAL, MOVED, MEDIA = "192.168.9.1", "192.168.9.2", "192.168.9.20"
HOSTS = ("backup", "backup.lan", "chat.lan", "git.lan", "photos.example.com", "wiki.lan")
MISTAKEN = ("backup", "chat", "git", "media", "wiki")
REFUSED, FAILED = 3, 6
TROUBLE = (AssertionError, ControlPlaneError, DemoError, PiHoleError, toolchain.ToolchainError)

_DIGEST = re.compile(r"--acknowledge[ =]([0-9a-f]+)")


@dataclass(frozen=True)
class Demo:
    """The steps, in one cluster, one project and one Pi-hole."""

    plane: ControlPlane
    project: Workspace
    pihole: PiHole

    def prepare(self) -> None:
        """Bind a stack to cluster and Pi-hole, and fill the cluster."""
        self.kubectl("apply", "--server-side", "--filename", EXAMPLE)
        statuses = [*demo.Demo(self.plane, self.project).statuses()]
        self.plane.kubectl(
            *("apply", "--server-side", "--subresource=status", "--filename=-"),
            input=json.dumps({"apiVersion": "v1", "kind": "List", "items": statuses}),
        )
        self.pic("init")
        say(
            "",
            "Three settings name the targets, the Pi-hole, and the address of the ingress",
            "controller. The password is in the environment: no file and no state has it.",
        )
        settings = {"piholeUrl": self.pihole.url, "piholeTargetIp": USUAL}
        self.settings(targets="pangolin,pihole", **settings)
        self.check(
            self.resolved("chat.lan", "nas.lan") == [[], ["192.168.1.2"]],
            "nothing is registered yet",
        )

    def register(self) -> None:
        """Register every host."""
        self.pic("up")
        self.lines()
        self.check(self.resolved(*HOSTS) == [[USUAL]] * len(HOSTS), "every host resolves")
        self.check(
            self.resolved("media.example.com", "tv.example.com") == [[MEDIA]] * 2,
            "an Ingress may name its own address",
        )
        self.check(
            self.exposed() == ["photos.example.com"], "one of them is exposed through Pangolin too"
        )
        self.check(self.annotated("chat") == "chat.lan", "its Ingress is told")

    def by_hand(self) -> None:
        """Show what becomes of records that somebody has made by hand."""
        printed = self.pic("plan", "--quiet")
        self.check(
            "RecordConflict: Ingress local-dns/nas" in printed,
            "nas.lan has another address by hand: that stays, and the Ingress is told",
        )
        self.check(
            "RecordExists: Ingress local-dns/printer" in printed,
            "printer.lan is as it is asked for, by hand: it is left alone, and never deleted",
        )
        self.check(self.theirs() == [*BY_HAND], "both lines are as they were, byte for byte")

    def move(self) -> None:
        """Give hosts another address while somebody asks for them all the time."""
        say(f"The ingress controller moves to {MOVED}. Meanwhile, a probe asks every 2 ms:")
        self.settings(piholeTargetIp=MOVED)
        with Probe(self.pihole, HOSTS, (USUAL, MOVED)) as probe:
            self.pic("up")
        heard = probe.counts
        self.check(self.resolved(*HOSTS) == [[MOVED]] * len(HOSTS), "every host has moved")
        self.check(
            (heard.missing, heard.unexpected) == (0, 0),
            f"of {heard.queries:,} questions none went without an answer",
        )

    def mistake(self) -> None:
        """Take most records away by mistake, and be stopped."""
        say("A mistaken command takes the annotation from five Ingresses:")
        self.kubectl(*self.annotating(*MISTAKEN, text="pihole.io/register-"))
        before = self.pihole.lines
        self.pic("up", code=REFUSED)
        self.check(self.pihole.lines == before, "refused: every record is still there")
        self.kubectl(*self.annotating(*MISTAKEN, text="pihole.io/register=true"))

    def lose(self) -> None:
        """Lose the state."""
        say("", "$ rm -r state    # the bucket is gone, with all that Pulumi knew")
        shutil.rmtree(self.project.state)
        self.project.state.mkdir()
        before, writes = self.pihole.lines, self.pihole.writes
        self.pic("up")
        self.check(
            (self.pihole.lines, self.pihole.writes) == (before, writes),
            "records are known by their marker: all are found again, and nothing is written",
        )

    def outage(self) -> None:
        """Let Pi-hole be down while Ingresses change."""
        say("Pi-hole is down. One Ingress asks for one more record, another for Pangolin:")
        self.pihole.die("the demo pulls the plug")
        self.kubectl(*self.annotating("chat", text="pihole.io/hosts=chat.lan,talk.lan"))
        words = ("patch", "ingress", "media", "--namespace", NAMESPACE, "--type=merge")
        self.kubectl(*words, '--patch={"spec":{"ingressClassName":"pangolin"}}')
        self.pic("up", code=FAILED)
        self.check("tv.example.com" in self.exposed(), "Pangolin goes on, and the exit code tells")
        self.pihole.restart()
        self.pic("up")
        self.check(self.resolved("talk.lan") == [[MOVED]], "once Pi-hole is back, all is well")

    def destroy(self) -> None:
        """Remove everything of the stack."""
        printed = self.pic("destroy", code=REFUSED)
        found = _DIGEST.search(printed)
        if found is None:
            raise DemoError("the refusal names no acknowledgement")
        self.pic("destroy", "--acknowledge", found[1])
        self.lines()
        self.check(self.pihole.lines == [*BY_HAND], "what was made by hand is what is left")
        at_once, sessions = self.pihole.most_at_once, self.pihole.sessions
        self.check((at_once, sessions) == (1, 0), "never two requests at once, no session left")

    def resolved(self, *names: str) -> list[list[str]]:
        """Ask DNS for names."""
        return [self.pihole.ask(name) for name in names]

    def theirs(self) -> list[str]:
        """Return the lines that are not ours."""
        return [line for line in self.pihole.lines if "# k8s:" not in line]

    def exposed(self) -> list[str]:
        """Return the hosts of the live PangolinResources."""
        path = "jsonpath={.items[*].spec.name}"
        return self.plane.kubectl("get", "pangolinresources", "-A", "--output", path).split()

    def annotated(self, name: str) -> str:
        """Return what an Ingress is told of its hosts."""
        path = r"jsonpath={.metadata.annotations.pihole\.io/managed-hosts}"
        return self.plane.kubectl("get", "ingress", name, "-n", NAMESPACE, "--output", path)

    def annotating(self, *names: str, text: str) -> Sequence[str]:
        """Return the words that annotate Ingresses."""
        return ("annotate", "--overwrite", "ingress", *names, "--namespace", NAMESPACE, text)

    def check(self, so: bool, what: str) -> None:  # noqa: FBT001 - reads as a sentence
        """Check what a step says."""
        if not so:
            self.lines()
            raise DemoError(f"not so: {what}")
        say(f"✓ {what}")

    def lines(self) -> None:
        """Show the records of Pi-hole."""
        say("", "Pi-hole has:", *(f"  {line}" for line in self.pihole.lines))

    def settings(self, **values: str) -> None:
        """Write settings into the stack file, and show them."""
        StackFile(self.project.path, STACK).merge(values)
        lines = (f"  pic:{key}: {value}" for key, value in values.items())
        say("", f"stacks/Pulumi.{STACK}.yaml", *lines)

    def kubectl(self, *arguments: str) -> str:
        """Show and run a command of kubectl."""
        print_command("kubectl", *arguments)
        return self.plane.kubectl(*arguments)

    def pic(self, verb: str, *arguments: str, code: int = 0) -> str:
        """Show and run a verb of pic, show what it prints, and check its exit code."""
        printed = self.run("pic", verb, "--stack", STACK, *arguments, code=code)
        say(printed.rstrip())
        return printed

    def run(self, *command: str, code: int = 0) -> str:
        """Show and run a command in the project, and check its exit code."""
        print_command(*command)
        words = command
        if command[0] == "pic":
            words = (str(self.project.python), "-m", *command)
        done = self.project.run(*words, check=False)
        if done.returncode != code:
            raise DemoError(f"{command} ended with {done.returncode}, not {code}:\n{done.stdout}")
        return done.stdout


def run() -> None:
    """Start everything, go through the steps, and remove everything."""
    os.chdir(ROOT)
    tools = toolchain.resolve(echo=lambda line: print(line, file=sys.stderr))
    with ExitStack() as stack:
        with step(
            "A Kubernetes API server and a Pi-hole of our own, with two records made by hand"
        ):
            plane = stack.enter_context(ControlPlane(crds="targets", binaries=tools.controlplane))
            pihole = stack.enter_context(PiHole(password=PASSWORD, records=BY_HAND, dns=True))
            extra = {"PIHOLE_PASSWORD": PASSWORD, "PULUMI_OPTION_COLOR": "never"}
            project = stack.enter_context(workspace(tools, plane.kubeconfig, **extra))
            shown = Demo(plane, project, pihole)
            shown.prepare()
        for title, part in (
            ("pic up registers every host that asks for it", shown.register),
            ("What was made by hand is left alone", shown.by_hand),
            ("Another address, and never a moment without one", shown.move),
            ("A mistake: too many removals are refused before anything happens", shown.mistake),
            ("A lost state", shown.lose),
            ("Pi-hole is down", shown.outage),
            ("The end", shown.destroy),
        ):
            with step(title):
                part()


def main() -> int:
    """Run the demo and return its exit code."""
    began = monotonic()
    code = standalone.main("demo", run, TROUBLE)
    if code == 0:
        say(
            "", f"The demo took {monotonic() - began:.0f} s; cluster, Pi-hole and project are gone."
        )
    return code


if __name__ == "__main__":
    sys.exit(main())
