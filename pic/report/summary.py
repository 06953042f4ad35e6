"""Says a review in one line, and what stands below it.

Text, Markdown and HTML take these lines from here, so that they agree.
"""

from collections import Counter
from collections.abc import Iterator

from pic.core.notices import Level
from pic.report.review import Review


def counts(review: Review) -> str:
    """Return the review in one line, without the counts that are zero."""
    changes, levels = review.changes, Counter(notice.level for notice in review.notices)
    # With a branch, the review has only the notices that the branch causes.
    new = "" if review.hidden_notices is None else "new "
    parts = [
        _many(len(review.openings), "host becomes public", "hosts become public"),
        _many(len(review.losses), "host loses protection", "hosts lose protection"),
        _many(len(review.outside), "exposure outside pic", "exposures outside pic"),
        _many(len(changes.removed), "host no longer declared", "hosts no longer declared"),
        _many(len(changes.moved), "host moved", "hosts moved"),
        _many(len(changes.created), "new host", "new hosts"),
        _many(len(changes.updated), "host changed", "hosts changed"),
        *_record_counts(review),
        _many(len(changes.held), "change held", "changes held"),
        _many(len(changes.register), "part of the register", "parts of the register"),
        _many(levels[Level.WARNING], f"{new}warning", f"{new}warnings"),
        _many(levels[Level.NORMAL], f"{new}remark", f"{new}remarks"),
    ]
    shown = [part for part in parts if part]
    # Without changes there may still be notices.
    if not review.has_changes:
        shown.insert(0, "no changes")
    return f"{', '.join(shown)} ({_sizes(review)})"


def _record_counts(review: Review) -> Iterator[str]:
    changes = review.changes.records
    yield _many(len(changes.removed), "DNS record removed", "DNS records removed")
    yield _many(len(changes.created), "new DNS record", "new DNS records")
    yield _many(len(changes.updated), "DNS record changed", "DNS records changed")
    yield _many(len(review.held_records), "DNS record held", "DNS records held")


def _sizes(review: Review) -> str:
    changes, records = review.changes, review.changes.records
    hosts = f"{changes.live_count:,} live, {changes.planned_count:,} planned"
    if not review.has_records:
        return hosts
    live = f"{records.live_count:,} live" if records.compared else "not compared"
    return f"{hosts}; DNS records: {live}, {records.planned_count:,} planned"


def footer(review: Review) -> str:
    """Return the digest and the cluster of a review, and how many notices it hides."""
    parts = [f"digest {review.changes.digest}"]
    if review.changes.cluster_id:
        parts.append(f"cluster {review.changes.cluster_id}")
    if review.hidden_notices:
        hidden = _many(
            review.hidden_notices,
            "notice is not shown: it exists without the branch too",
            "notices are not shown: they exist without the branch too",
        )
        parts.append(hidden)
    return " · ".join(parts)


def _many(count: int, one: str, many: str) -> str:
    """Return the count with its words; empty if it is zero."""
    return f"{count:,} {one if count == 1 else many}" if count else ""
