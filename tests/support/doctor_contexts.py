"""A project for the doctor to look at, with a Pulumi CLI whose answers are made up."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from pic.cli.doctor import DoctorContext

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
HOST = "here"
CLI = """#!/bin/sh
echo "$*" >> {folder}/asked
test ! -e {folder}/$1.hangs || sleep 600
test ! -e {folder}/$1.err || cat {folder}/$1.err >&2
test ! -e {folder}/$1.out || cat {folder}/$1.out
exit $(cat {folder}/$1.code)
"""


@dataclass(frozen=True)
class Clinic:
    """A folder with a project and a CLI."""

    root: Path

    @property
    def cli(self) -> Path:
        return self.root / "bin" / "pulumi"

    @property
    def asked(self) -> list[str]:
        return (self.cli.parent / "asked").read_text().splitlines()

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def says(self, verb: str, out: str = "", err: str = "", code: int = 0) -> None:
        """Let the CLI answer a verb."""
        self.write("bin/pulumi", CLI.format(folder=self.cli.parent))
        self.cli.chmod(0o755)
        for name, text in {"out": out, "err": err, "code": str(code)}.items():
            self.write(f"bin/{verb}.{name}", text)

    def hangs(self, verb: str) -> None:
        self.says(verb)
        self.write(f"bin/{verb}.hangs", "")

    def is_well(self) -> None:
        """Let the CLI and its backend, a folder with the stack `prod`, be as they should."""
        self.says("version", "v3.274.1\n")
        self.says("stack", json.dumps([{"name": "prod"}]))
        self.says("whoami", json.dumps({"url": f"file://{self.root}/state"}))
        self.says("config")

    def lock(self, name: str, content: str) -> None:
        self.write(f"state/.pulumi/locks/organization/pic/prod/{name}.json", content)

    def context(
        self, environment: Mapping[str, str] | None = None, **more: object
    ) -> DoctorContext:
        path = f"{self.cli.parent}:/usr/bin:/bin"
        whole = {"PATH": path, "HOME": str(self.root), **(environment or {})}
        made = DoctorContext(self.root, "prod", (), whole, HOST, NOW)
        return replace(made, **more)  # type: ignore[arg-type]
