"""Counts the `no cover` marks of pic/: there may be ten, and each needs a reason."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST = 10
_MARK = re.compile(r"#\s*pragma:\s*no (?:cover|branch)(?P<reason>.*)")


def marks(folder: Path) -> list[tuple[str, str]]:
    """Return the place of each mark, and its reason."""
    return [
        (f"{path.relative_to(folder.parent)}:{number}", match["reason"].strip(" -:"))
        for path in sorted(folder.rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (match := _MARK.search(line))
    ]


def main() -> int:
    """Print the count; return 1 if there are too many, or one has no reason."""
    all_marks = marks(ROOT / "pic")
    unexplained = [place for place, reason in all_marks if not reason]
    print(f"no cover: {len(all_marks)} marks, at most {MOST} are allowed")
    for place in unexplained:
        print(f"{place}: this mark has no reason; write one after it", file=sys.stderr)
    return 1 if unexplained or len(all_marks) > MOST else 0


if __name__ == "__main__":
    sys.exit(main())
