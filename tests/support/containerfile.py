"""Reads the instructions of deploy/Containerfile."""

import shlex
from pathlib import Path

ROOT = Path(__file__).parents[2]
CONTAINERFILE = (ROOT / "deploy" / "Containerfile").read_text()


def instructions() -> list[list[str]]:
    """Return the words of each instruction, without comments and continuation lines."""
    lines = [line for line in CONTAINERFILE.splitlines() if not line.startswith("#")]
    return [
        shlex.split(line) for line in "\n".join(lines).replace("\\\n", " ").splitlines() if line
    ]


def copied_paths() -> list[str]:
    """Return the paths that the image copies out of the checkout."""
    sources = [words[1:-1] for words in instructions() if words[0] == "COPY"]
    return [path for paths in sources if not paths[0].startswith("--from") for path in paths]
