"""Plans every file of a folder, to check that no manifest of the world causes a traceback.

The folder may hold anything: manifests, charts, pictures. Each file is planned alone, with every
class, and read as a user would name it. A file may be refused, but never with a traceback, and
never without an end.
"""

import io
import json
import os
import signal
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

from tabulate import tabulate

from pic.cli.main import main as run_pic

ALLOWED = frozenset({"0", "2"})
SECONDS = 60
WORDS = ("plan", "--offline", "--quiet", "--output", "json", "--config", 'ingressClasses=["*", ""]')
_REPORT_EVERY = 500


class NoEndError(Exception):
    """Reports a file that pic did not finish in time."""


@dataclass(slots=True)
class Tally:
    """What became of the files.

    Attributes:
        exits: The number of files by exit code, or by the name of an exception.
        notices: The number of notices by reason.
        failures: Each file that failed in an unexpected way, with the traceback.
    """

    exits: Counter[str] = field(default_factory=Counter)
    notices: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[Path, str]] = field(default_factory=list)

    def table(self) -> str:
        """Return the numbers as two tables."""
        exits = tabulate(sorted(self.exits.items()), headers=("EXIT", "FILES"), tablefmt="plain")
        rows = sorted(self.notices.items(), key=lambda item: (-item[1], item[0]))
        return f"{exits}\n\n{tabulate(rows, headers=('NOTICE', 'COUNT'), tablefmt='plain')}"


def run(folder: Path, plan: Callable[[Sequence[str]], int] = run_pic) -> int:
    """Plan each file of a folder and print the tables; return 1 if one failed unexpectedly."""
    files, tally = sorted(_files(folder)), Tally()
    print(f"fuzz: {len(files)} files below {folder}")
    for number, file in enumerate(files, 1):
        try_file(file, tally, plan)
        if number % _REPORT_EVERY == 0:
            print(f"fuzz: {number} files", flush=True)
    print(tally.table())
    for file, text in tally.failures:
        print(f"\nfuzz: {file} failed:\n{text}")
    if not files:
        print("fuzz: the folder has no files")
    return 1 if tally.failures or not files else 0


def _files(folder: Path) -> Iterator[Path]:
    # A link could lead to a file a second time, or out of the folder.
    for path, _, names in os.walk(folder):
        for name in names:
            file = Path(path, name)
            if file.is_file() and not file.is_symlink():
                yield file.absolute()


def try_file(file: Path, tally: Tally, plan: Callable[[Sequence[str]], int] = run_pic) -> None:
    """Plan one file and count what became of it."""
    out = io.StringIO()
    signal.signal(signal.SIGALRM, _stop)
    signal.alarm(SECONDS)
    try:
        with redirect_stdout(out), redirect_stderr(io.StringIO()):
            code = str(plan([*WORDS, "--manifests", str(file)]))
    except BaseException as error:  # noqa: BLE001 - any exception is a finding
        code = type(error).__name__
        tally.failures.append((file, traceback.format_exc()))
    else:
        if code not in ALLOWED:
            tally.failures.append((file, f"exit code {code}"))
    finally:
        signal.alarm(0)
    tally.exits[code] += 1
    if code == "0":
        tally.notices.update(it["reason"] for it in json.loads(out.getvalue())["notices"])


def _stop(*_: object) -> None:
    raise NoEndError(f"no end after {SECONDS} s")
