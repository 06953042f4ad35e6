"""Plans mutated manifests, to check that `pic plan` never ends with a traceback."""

import argparse
import copy
import io
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import yaml

from dev import fuzz_corpus
from pic.cli.main import main as run_pic

EXAMPLES = Path(__file__).resolve().parent / "examples"
COMMAND = ["plan", "--offline", "--manifests", "-"]
ALLOWED = frozenset({0, 2})
# Every so many mutants, pic also runs in a process of its own, as a user would run it.
WHOLE_PROCESS_EVERY = 500

ODD: tuple[object, ...] = (
    None, True, False, 0, -1, 65536, 10**40, 1.5, float("nan"), "", " ", "`", "${VAR}", "*",
    "a" * 300, "\u0000", "ünï.example", "xn--", "-", "..", "/%2f", "8080", [], {}, [[]],
    {"a": {"b": []}}, {"number": "80"}, ["x"], "kind: Ingress", "0x1F", "2024-01-01", "yes",
    "::1", "1.2.3.4",
)  # fmt: skip
SNIPPETS = (
    b"---\n", b": ", b"&a ", b"*a", b"!!python/object:os.system ", b"<<: *a\n", b"{{ .Values.x }}",
    b"\t", b"\xff\xfe", b"\x00", b"[" * 500, b"- ", b"|\n", b'"', b"'", b"#", b"? ", b"%YAML 9\n",
    b"kind: List\nitems: ", b"\xef\xbb\xbf", b"\r\n", b"{", b"}", b"null", b"~",
)  # fmt: skip


def mutants(seed: int, count: int) -> Iterator[tuple[str, bytes]]:
    """Yield mutated manifests with the name of the last mutation; a seed repeats them."""
    rng = random.Random(seed)  # noqa: S311 - this is not cryptography
    texts = [path.read_bytes() for path in sorted(EXAMPLES.rglob("*.yaml"))]
    mutations: tuple[Callable[[random.Random, bytes], bytes], ...]
    mutations = (_bytes, _snippets, _lines, _tree)
    for _ in range(count):
        mutate = rng.choice(mutations)
        text = rng.choice(texts)
        for _ in range(rng.randint(1, 4)):
            text = mutate(rng, text)
        yield mutate.__name__.strip("_"), text


def _bytes(rng: random.Random, text: bytes) -> bytes:
    changed = bytearray(text)
    for _ in range(rng.randint(1, 8)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _snippets(rng: random.Random, text: bytes) -> bytes:
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(SNIPPETS) + text[at:]


def _lines(rng: random.Random, text: bytes) -> bytes:
    lines = text.splitlines(keepends=True) or [b"\n"]
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(4):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, lines[other])
        case 2:
            lines[at] = b"  " + lines[at]
        case _:
            lines[at] = lines[at].lstrip()
    return b"".join(lines) or b"\n"


def _tree(rng: random.Random, text: bytes) -> bytes:
    """Put an odd value at a random place of the parsed documents."""
    try:
        documents = list(yaml.safe_load_all(text))
    except (yaml.YAMLError, ValueError, RecursionError):
        return text
    places = list(_places(documents))
    if places:
        container, key = rng.choice(places)
        container[key] = copy.deepcopy(rng.choice(ODD))
    return yaml.safe_dump_all(documents, allow_unicode=True).encode("utf-8", "surrogatepass")


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
        yield value, key
        yield from _places(value[key])


def outcome(text: bytes) -> str:
    """Plan a manifest in this process and return its exit code, or what it raised."""
    stdin, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(text))
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            return str(run_pic(COMMAND))
    except BaseException as error:  # noqa: BLE001 - any exception is a finding
        return f"{type(error).__name__}: {error}"
    finally:
        sys.stdin = stdin


def whole_process(text: bytes) -> str:
    """Plan a manifest in a process of its own and return its exit code, or its traceback."""
    command = [sys.executable, "-m", "pic", *COMMAND]
    done = subprocess.run(command, input=text, capture_output=True, check=False)
    return "Traceback" if b"Traceback" in done.stderr else str(done.returncode)


def main() -> int:
    """Plan the mutants, or a corpus, and print the exit codes; return 1 for an unexpected one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path, help="plan the files of a folder, not mutants")
    options = parser.parse_args()
    if options.corpus:
        return fuzz_corpus.run(options.corpus)
    start, outcomes = time.monotonic(), Counter[str]()
    print(f"fuzz: {options.count} mutants from seed {options.seed}")
    for number, (mutation, text) in enumerate(mutants(options.seed, options.count), 1):
        result = outcome(text)
        if result in map(str, ALLOWED) and number % WHOLE_PROCESS_EVERY == 0:
            result = whole_process(text)
        if result not in map(str, ALLOWED):
            Path("fuzz-failure.yaml").write_bytes(text)
            print(f"fuzz: mutant {number} ({mutation}) ended with {result}: see fuzz-failure.yaml")
            return 1
        outcomes[result] += 1
        if number % 2000 == 0:
            print(f"fuzz: {number} mutants, {time.monotonic() - start:.0f} s", flush=True)
    print(f"fuzz: exit codes {dict(outcomes)}, no traceback")
    return 0


if __name__ == "__main__":
    sys.exit(main())
