"""A small program that declares public hosts, and the watched Pangolin that has them."""

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from dev.pangolin_api import Moment, Pangolin
from dev.toolchain import Toolchain
from dev.workspace import Workspace, workspace
from pic.core.model import PUBLIC_TYPE
from pic.pangolin_api import inputs
from pic.pangolin_api.connection import KEY
from pic.pangolin_api.model import Wanted
from tests.engine.answers import Answer, answer
from tests.engine.stage import SECONDS

PROJECT = """name: pic
runtime: {name: python, options: {toolchain: pip, virtualenv: .venv}}
stackConfigDir: stacks
plugins:
  providers:
    - {name: pangolin, path: plugins/pangolin}
"""
PROGRAM = f"""import json
import pulumi
declared = json.load(open("hosts.json"))
provider = pulumi.ProviderResource("pangolin", "pangolin", declared["provider"])
for host, properties in declared["hosts"].items():
    options = pulumi.ResourceOptions(provider=provider, import_=declared["ids"].get(host))
    pulumi.CustomResource("{PUBLIC_TYPE}", host, properties, options)
"""


@dataclass
class Publisher:
    """Runs the program against a watched server.

    Attributes:
        before: How far a visitor may get at each host, at most and at least, before the change.
        after: The same after it.
        violations: Each moment with a host that was open or unreachable, and should not have been.
    """

    project: Workspace
    server: Pangolin
    declared: dict[str, Wanted] = field(default_factory=dict)
    before: dict[str, Wanted] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)

    def declare(self, hosts: Sequence[Wanted], ids: Mapping[str, str] | None = None) -> None:
        """Write what the program declares from now on."""
        self.before, self.declared = self.declared, {want.host: want for want in hosts}
        document = {
            "provider": {"url": self.server.url, "org": "home"},
            "hosts": {it.host: {**inputs.encode(it), "object": "apps/web"} for it in hosts},
            "ids": ids or {},
        }
        (self.project.path / "hosts.json").write_text(json.dumps(document))

    def watch(self, moment: Moment) -> None:
        """Note a host that is more open than before and after, or unreachable between the two."""
        for host in {**self.before, **self.declared}:
            states = [it for it in (self.before.get(host), self.declared.get(host)) if it]
            reach = moment.reach(host)
            if reach == "open" and all(it.sso or it.block for it in states):
                self.violations.append(f"{host} is open after {moment.after}")
            is_served = len(states) == 2 and not any(it.block for it in states)
            if is_served and reach in {"nothing", "blocked"}:
                self.violations.append(f"{host} is {reach} after {moment.after}")

    def pulumi(self, *arguments: str, **env: str) -> Answer:
        command = self.project.pulumi_command(*arguments, "--json")
        with self.project.start(*command, stderr=-1, env=env) as process:
            printed, errors = process.communicate(timeout=SECONDS)
        return answer(process.returncode, printed, errors)

    def up(self, *arguments: str, **env: str) -> Answer:
        return self.pulumi("up", "--yes", "--skip-preview", *arguments, **env)

    def ids(self) -> dict[str, int]:
        """Return the id of each resource in Pangolin, by host; no host has two."""
        rows = [(row["fullDomain"], number) for number, row in self.server.store.resources.items()]
        assert len(dict(rows)) == len(rows), rows
        return dict(rows)


@contextmanager
def set_publisher(tools: Toolchain) -> Iterator[Publisher]:
    """Prepare an empty stack and an empty organisation."""
    name = f"t{secrets.token_hex(4)}"
    with Pangolin() as server:
        # Like pic, it writes the state once in a run, so a killed engine remembers nothing of it.
        once = {"PULUMI_SKIP_CHECKPOINTS": "true"}
        extra = {"PULUMI_STACK": name, KEY: server.key, **once}
        with workspace(tools, tools.bin / "no-kubeconfig", **extra) as project:
            for file, content in (("Pulumi.yaml", PROJECT), ("__main__.py", PROGRAM)):
                (project.path / file).unlink()
                (project.path / file).write_text(content)
            project.pulumi("stack", "init", name, "--no-select")
            publisher = Publisher(project, server)
            server.watch = publisher.watch
            yield publisher
            assert publisher.violations == []
