"""Counts the `no cover` marks of pic/: at most ten, each with its reason."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST = 10
_MARK = re.compile(r"#\s*pragma:\s*no (?:cover|branch)(?P<reason>.*)")


def marks(folder: Path) -> list[tuple[str, str]]:
    """Return where each mark is, and the reason behind it."""
    return [
        (f"{path.relative_to(folder.parent)}:{number}", found["reason"].strip(" -:"))
        for path in sorted(folder.rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (found := _MARK.search(line))
    ]


def main() -> int:
    """Print the count; fail when there are too many, or one without a reason."""
    found = marks(ROOT / "pic")
    bare = [where for where, reason in found if not reason]
    print(f"no cover: {len(found)} of at most {MOST}")
    for where in bare:
        print(f"{where}: a mark without its reason", file=sys.stderr)
    return 1 if bare or len(found) > MOST else 0


if __name__ == "__main__":
    sys.exit(main())
