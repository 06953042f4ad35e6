"""Answers Pi-hole's own API, version 6."""

from collections.abc import Sequence
from dataclasses import replace

from dev.pihole import hosts
from dev.pihole.auth import Auth
from dev.pihole.config import Config, describe, subtree
from dev.pihole.messages import Answer, Refusal, Request, error, not_found
from dev.pihole.pace import Pace
from dev.pihole.sessions import Session

HOSTS = ["dns", "hosts"]
WRITING = {"PUT", "DELETE", "PATCH"}
ENVIRONMENT = "Config items set via environment variables cannot be changed via the API"
READ_ONLY = "Unable to change configuration (read-only)"
MAY_NOT = "is not allowed to modify Pi-hole config settings"


class V6:
    """Answers requests as FTL 6.4.1 does."""

    def __init__(self, config: Config, auth: Auth, pace: Pace) -> None:
        self._config = config
        self._auth = auth
        self._pace = pace

    def writes(self, request: Request) -> bool:
        """Return whether a request may change the configuration."""
        return request.method in WRITING and request.path.startswith("/api/config")

    def answer(self, request: Request) -> Answer:
        """Answer one request."""
        if request.method == "OPTIONS":
            return Answer(204)
        if request.path == "/admin":
            return Answer(308, "", {"Location": "/admin/"})
        if request.target.startswith("//"):
            return not_found(request)
        answer = self._routed(request)
        cookie = self._auth.cookie_of(request)
        return replace(answer, headers={**cookie, **answer.headers})

    def _routed(self, request: Request) -> Answer:
        match request.segments:
            case ["admin", "api" | "api.php", *_]:
                hint = "The API is hosted at pi.hole/api, not pi.hole/admin/api"
                return error(400, "bad_request", "Bad request", hint)
            case ["api", "auth"] if request.method in {"GET", "POST", "DELETE"}:
                return self._auth.answer(request)
            case ["api", "auth", "sessions"] if request.method == "GET":
                return self._auth.answer_sessions(request)
            case ["api", "auth", "session", _] if request.method == "DELETE":
                return self._auth.answer_sessions(request)
            case ["api", "config", *path] if request.method in {"GET", *WRITING}:
                return self._configuration(request, path)
            case _:
                return not_found(request)

    def _configuration(self, request: Request, path: Sequence[str]) -> Answer:
        session = self._auth.session_of(request)
        if request.method == "GET":
            return self._config_answer(path, in_detail=request.query("detailed") == "true")
        self._check_rights(session)
        if request.method == "PATCH":
            return self._patch(request, path)
        return self._put_or_delete(request, path)

    def _check_rights(self, session: Session | None) -> None:
        if session is None or session.kind == "admin":
            return
        if session.kind == "cli":
            raise Refusal(error(403, "forbidden", READ_ONLY, f"The current CLI session {MAY_NOT}"))
        if not self._config.app_sudo:
            hint = f"The current app session {MAY_NOT} (webserver.api.app_sudo is false)"
            raise Refusal(error(403, "forbidden", READ_ONLY, hint))

    def _config_answer(self, path: Sequence[str], *, in_detail: bool = False) -> Answer:
        part = subtree(self._config.tree(), path)
        return Answer(200, {"config": describe(part, self._config) if in_detail else part})

    def _put_or_delete(self, request: Request, path: Sequence[str]) -> Answer:
        if not path:
            return Answer(404, {})
        if len(path) < 2:
            return _too_short(request.method)
        if list(path[:2]) != HOSTS or len(path) != 3:
            return Answer(404, {})
        if self._config.env_hosts:
            return error(400, "bad_request", ENVIRONMENT, hosts.KEY)
        change = self._put if request.method == "PUT" else self._delete
        return change(request, path[2])

    def _put(self, request: Request, line: str) -> Answer:
        lines = self._config.lines
        if line in lines:
            hint = "Uniqueness of items is enforced"
            return error(400, "bad_request", "Item already present", hint)
        problem = hosts.hint([*lines, line])
        if problem is not None:
            return error(400, "bad_request", "Invalid value", problem)
        self._store(request, (*lines, line))
        return Answer(201, {})

    def _delete(self, request: Request, line: str) -> Answer:
        lines = list(self._config.lines)
        if line not in lines:
            return Answer(404, {})
        lines.remove(line)
        self._store(request, lines)
        return Answer(204)

    def _store(self, request: Request, lines: Sequence[str]) -> None:
        """Write lines that were computed from a copy; another request may write meanwhile."""
        pace = self._pace
        patches = request.method == "PATCH"
        fixed, by_line = (pace.patch, pace.patch_line) if patches else (pace.put, pace.put_line)
        reused = pace.reused if request.reused else 0
        request.pause(fixed + by_line * len(lines) + reused)
        self._config.replace(lines)

    def _patch(self, request: Request, path: Sequence[str]) -> Answer:
        payload = request.json
        wanted = payload.get("config") if isinstance(payload, dict) else None
        if not isinstance(wanted, dict):
            return error(400, "body_error", 'No "config" object in body data')
        if self._config.read_only:
            message = "The config is currently in read-only mode"
            return error(403, "forbidden", message)
        dns = wanted.get("dns")
        if isinstance(dns, dict) and "hosts" in dns:
            self._patch_hosts(request, dns["hosts"])
        self._patch_sudo(wanted)
        return self._config_answer(path)

    def _patch_hosts(self, request: Request, lines: object) -> None:
        wanted = _strings(lines)
        if tuple(wanted) == self._config.lines:
            return
        if self._config.env_hosts:
            raise Refusal(error(400, "bad_request", ENVIRONMENT, hosts.KEY))
        problem = hosts.hint(wanted)
        if problem is not None:
            raise Refusal(error(400, "bad_request", "Config item validation failed", problem))
        self._store(request, wanted)

    def _patch_sudo(self, wanted: dict[str, object]) -> None:
        for key in ("webserver", "api"):
            value = wanted.get(key)
            wanted = value if isinstance(value, dict) else {}
        if isinstance(wanted.get("app_sudo"), bool):
            self._config.app_sudo = bool(wanted["app_sudo"])


def _too_short(method: str) -> Answer:
    change = "add {0} to" if method == "PUT" else "remove {0} from"
    action = change.format('"127.0.0.1"')
    hint = (
        f"Use, e.g., {method} /api/config/dns/upstreams/127.0.0.1 to {action} config.dns.upstreams"
    )
    return error(400, "bad_request", "Invalid path depth", hint)


def _strings(value: object) -> list[str]:
    if not isinstance(value, list):
        hint = f"{hosts.KEY}: not of type array"
        raise Refusal(error(400, "bad_request", "Config item is invalid", hint))
    if not all(isinstance(line, str) for line in value):
        hint = f"{hosts.KEY}: array has invalid elements"
        raise Refusal(error(400, "bad_request", "Config item is invalid", hint))
    return value
