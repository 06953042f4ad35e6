"""Provides a project for the doctor to check, with a Pulumi CLI that gives scripted answers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from pic.cli.doctor import DoctorContext

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
HOST = "this-host"
CLI = """#!/bin/sh
echo "$*" >> {folder}/commands
test ! -e {folder}/$1.hangs || sleep 600
test ! -e {folder}/$1.err || cat {folder}/$1.err >&2
test ! -e {folder}/$1.out || cat {folder}/$1.out
exit $(cat {folder}/$1.code)
"""


@dataclass(frozen=True)
class FakeCheckout:
    """A folder with a project and a scripted CLI."""

    root: Path

    @property
    def cli(self) -> Path:
        return self.root / "bin" / "pulumi"

    @property
    def commands(self) -> list[str]:
        """The arguments of each call of the CLI."""
        return (self.cli.parent / "commands").read_text().splitlines()

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def answer(self, verb: str, out: str = "", err: str = "", code: int = 0) -> None:
        """Let the CLI answer a verb."""
        self.write("bin/pulumi", CLI.format(folder=self.cli.parent))
        self.cli.chmod(0o755)
        for name, text in {"out": out, "err": err, "code": str(code)}.items():
            self.write(f"bin/{verb}.{name}", text)

    def hang(self, verb: str) -> None:
        """Let the CLI give no answer to a verb."""
        self.answer(verb)
        self.write(f"bin/{verb}.hangs", "")

    def make_healthy(self) -> None:
        """Let the CLI be new enough, and its backend be a folder with the stack `prod`."""
        self.answer("version", "v3.274.1\n")
        self.answer("stack", json.dumps([{"name": "prod"}]))
        self.answer("whoami", json.dumps({"url": f"file://{self.root}/state"}))
        self.answer("config")

    def lock(self, name: str, content: str) -> None:
        """Write a lock of the stack `prod` into the backend."""
        self.write(f"state/.pulumi/locks/organization/pic/prod/{name}.json", content)

    def context(
        self, environment: Mapping[str, str] | None = None, **changes: object
    ) -> DoctorContext:
        """Return the context for this checkout, with changes to its attributes."""
        path = f"{self.cli.parent}:/usr/bin:/bin"
        own = {"PATH": path, "HOME": str(self.root), "PIC_RUNTIME_DIR": str(self.root)}
        variables = {**own, **(environment or {})}
        context = DoctorContext(self.root, "prod", (), variables, HOST, NOW)
        return replace(context, **changes)  # type: ignore[arg-type] # values of several types
