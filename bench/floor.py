"""Deploys objects with the least that the engine needs: `python -m bench.floor OBJECTS`.

It reads no cluster, makes no plan, and runs no guard and no hooks. The working directory must be a
project with an empty stack `dev`.
"""

import gc
import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pulumi

from bench import commands
from bench.stage import Object
from pic.core.model import Plan
from pic.engine.engine import Engine
from pic.engine.hooks import Bindings
from pic.engine.targets import providers, registration
from pic.engine.targets.registration import Batch
from pic.run.targets.interface import Declaration
from pic.run.targets.pangolin import declaration
from pic.settings.parse import Settings


def declare(objects: list[Object]) -> None:
    """Register the objects as they are."""
    no_hooks = pulumi.ResourceHookBinding()
    empty = declaration.declarations(Plan(), "bench", Settings())
    resources = [Declaration(body["spec"]["name"], body) for body in objects]
    batch = Batch(
        replace(empty, resources=resources),
        providers.provider_resource(empty.provider),
        dict.fromkeys((True, False), Bindings(no_hooks, no_hooks)),
    )

    async def register() -> None:
        await registration.register(batch)

    pulumi.run(register)


def main(file: str) -> int:
    """Create the objects of a file, and return the exit code."""
    objects: list[Object] = json.loads(Path(file).read_text())["items"]
    engine = Engine(Path.cwd(), commands.STACK, os.environ)
    outcome = engine.up(lambda: declare(objects))
    print(f"{outcome.changed.get('create', 0)} created, {len(outcome.failures)} failed")
    return 1 if outcome.failures else 0


if __name__ == "__main__":
    gc.disable()
    code = main(sys.argv[1])
    gc.freeze()
    sys.exit(code)
