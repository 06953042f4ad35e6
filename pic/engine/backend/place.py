"""Gives each stack in each backend a name, whatever the checkout and however the URL is written."""

import hashlib
from pathlib import Path
from urllib.parse import parse_qsl, unquote

from pic.engine.backend import stores

# The parts of a query that say where the files are. Others say how the CLI reaches them.
_WHERE = ("dbname", "endpoint", "host", "port", "prefix", "table")


def key(url: str, stack: str) -> str:
    """Return a short name for a stack in a backend, with which a file name may begin.

    Args:
        url: The URL of the backend, with an absolute path.
        stack: Its name, with or without organization and project: the project is always the same.
    """
    text = f"{normalised(url)}\n{stack.rpartition('/')[2]}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def normalised(url: str) -> str:
    """Return one spelling of the URL of a backend. It holds no password.

    Two spellings of one backend that this does not recognise only exclude each other less: a lock
    is judged again right before pic removes it.
    """
    if folder := stores.folder(url, Path("/")):
        return f"file://{folder.root.resolve()}"
    parts = stores.split(url)
    address = parts.netloc.rpartition("@")[2].lower()
    query = dict(parse_qsl(parts.query))
    where = [f"{name}={_place(query[name])}" for name in _WHERE if name in query]
    return f"{parts.scheme}://{address}/{unquote(parts.path).strip('/')}?{'&'.join(where)}"


def _place(value: str) -> str:
    return value.rpartition("://")[2].rstrip("/")
