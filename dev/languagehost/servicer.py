"""Answers the calls of the engine: the LanguageRuntime service for programs in Python.

It runs and describes what is installed. It installs nothing, generates no code, and supports only
the runtime option `virtualenv`.
"""
# ruff: noqa: N802, D102 - the gRPC protocol defines the methods and what they mean

import json
import os
import subprocess
import threading
import tomllib
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path

import grpc
from google.protobuf.empty_pb2 import Empty
from google.protobuf.json_format import MessageToDict
from pulumi.runtime.proto import language_pb2 as proto
from pulumi.runtime.proto.language_pb2_grpc import LanguageRuntimeServicer
from pulumi.runtime.proto.plugin_pb2 import PackageDependency, PluginDependency, PluginInfo

from dev.languagehost import streams
from dev.languagehost.children import Children
from dev.languagehost.interpreters import Interpreter, InterpreterError

_PROGRAM = str(Path(__file__).with_name("program.py"))
_BAIL = 32  # as in program.py: the program has already reported its error


class LanguageHost(LanguageRuntimeServicer):
    """Implements the service. Each call names its program; the only state is the children."""

    def __init__(self, engine: str, children: Children) -> None:
        self._engine = engine
        self._children = children

    def Handshake(
        self, request: proto.LanguageHandshakeRequest, _context: grpc.ServicerContext
    ) -> proto.LanguageHandshakeResponse:
        self._engine = request.engine_address or self._engine
        return proto.LanguageHandshakeResponse()

    def GetPluginInfo(self, _request: Empty, _context: grpc.ServicerContext) -> PluginInfo:
        return PluginInfo(version=metadata.version("pulumi"))

    def GetRequiredPackages(
        self, request: proto.GetRequiredPackagesRequest, context: grpc.ServicerContext
    ) -> proto.GetRequiredPackagesResponse:
        plugins = _interpreter(request.info, context).plugins()
        return proto.GetRequiredPackagesResponse(
            packages=[
                PackageDependency(name=p.name, kind="resource", version=p.version, server=p.server)
                for p in plugins
            ]
        )

    def GetRequiredPlugins(
        self, request: proto.GetRequiredPluginsRequest, context: grpc.ServicerContext
    ) -> proto.GetRequiredPluginsResponse:
        plugins = _interpreter(request.info, context).plugins()
        return proto.GetRequiredPluginsResponse(
            plugins=[
                PluginDependency(name=p.name, kind="resource", version=p.version, server=p.server)
                for p in plugins
            ]
        )

    def GetProgramDependencies(
        self, request: proto.GetProgramDependenciesRequest, context: grpc.ServicerContext
    ) -> proto.GetProgramDependenciesResponse:
        packages = _interpreter(request.info, context).packages(
            transitive=request.transitiveDependencies
        )
        return proto.GetProgramDependenciesResponse(
            dependencies=[proto.DependencyInfo(name=name, version=ver) for name, ver in packages]
        )

    def About(
        self, request: proto.AboutRequest, context: grpc.ServicerContext
    ) -> proto.AboutResponse:
        python = _interpreter(request.info, context)
        return proto.AboutResponse(executable=python.command, version=python.version)

    def InstallDependencies(
        self, request: proto.InstallDependenciesRequest, context: grpc.ServicerContext
    ) -> Iterator[proto.InstallDependenciesResponse]:
        python = _interpreter(request.info, context).command
        yield proto.InstallDependenciesResponse(
            stdout=f"{python} runs with its installed packages; nothing is installed\n".encode()
        )

    def Run(self, request: proto.RunRequest, context: grpc.ServicerContext) -> proto.RunResponse:
        python = _interpreter(request.info, context)
        program = Path(request.info.program_directory, request.info.entry_point)
        with self._children.start(
            python.command,
            ["path", _PROGRAM, json.dumps(self._spec(request)), str(program), *request.args],
            cwd=request.pwd or request.info.program_directory,
            env=python.environment(os.environ) | _program_environment(request),
        ) as child:
            self._stop_with(context, child)
            code = child.wait()
            if code == _BAIL or self._children.was_stopped(child):
                return proto.RunResponse(bail=True)
        return proto.RunResponse(error=_failure(code))

    def RunPlugin(
        self, request: proto.RunPluginRequest, context: grpc.ServicerContext
    ) -> Iterator[proto.RunPluginResponse]:
        python = _interpreter(request.info, context)
        environ = dict(pair.split("=", 1) for pair in request.env) or os.environ
        with self._children.start(
            python.command,
            [*_plugin(request.info.program_directory, context), *request.args],
            cwd=request.pwd,
            env=python.environment(environ),
            output=subprocess.PIPE,
        ) as child:
            self._stop_with(context, child)
            for stream, chunk in streams.chunks(child):
                if stream == "stdout":
                    yield proto.RunPluginResponse(stdout=chunk)
                else:
                    yield proto.RunPluginResponse(stderr=chunk)
            yield proto.RunPluginResponse(exitcode=child.wait())

    def Cancel(self, _request: Empty, _context: grpc.ServicerContext) -> Empty:
        self._children.stop_all()
        return Empty()

    def _spec(self, request: proto.RunRequest) -> dict[str, object]:
        return {
            "project": request.project,
            "stack": request.stack,
            "parallel": request.parallel,
            "dry_run": request.dryRun,
            "monitor": request.monitor_address,
            "engine": self._engine,
            "organization": request.organization,
            "root_directory": request.info.root_directory,
        }

    def _stop_with(self, context: grpc.ServicerContext, child: subprocess.Popen[bytes]) -> None:
        """End a child when the engine cancels its call."""
        # In its own thread, because callbacks run in the thread that receives all calls.
        stop = threading.Thread(target=self._children.stop, args=(child,), daemon=True)
        if not context.add_callback(stop.start):
            stop.start()


def _interpreter(info: proto.ProgramInfo, context: grpc.ServicerContext) -> Interpreter:
    try:
        return Interpreter.of(MessageToDict(info.options), info.root_directory)
    except InterpreterError as error:
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))
        raise


def _program_environment(request: proto.RunRequest) -> dict[str, str]:
    options: Mapping[str, object] = MessageToDict(request.info.options)
    return {
        "PULUMI_CONFIG": json.dumps(dict(request.config)),
        "PULUMI_CONFIG_SECRET_KEYS": json.dumps(list(request.configSecretKeys)),
        **{f"PULUMI_RUNTIME_{name.upper()}": str(options[name]) for name in sorted(options)},
    }


def _failure(code: int) -> str:
    if code == 0:
        return ""
    if code < 0:
        return f"signal {-code} ended the program"
    return f"the program ended with exit code {code}"


def _plugin(directory: str, context: grpc.ServicerContext) -> list[str]:
    """Return what runs a provider: its `__main__.py`, or the package of its pyproject.toml."""
    if Path(directory, "__main__.py").exists():
        return ["path", directory]
    try:
        project = tomllib.loads(Path(directory, "pyproject.toml").read_text())["project"]
        return ["module", "pulumi.run.plugin", str(project["name"])]
    except (OSError, KeyError, tomllib.TOMLDecodeError):
        context.abort(
            grpc.StatusCode.FAILED_PRECONDITION,
            f"{directory} has neither a __main__.py nor a pyproject.toml with a project name",
        )
        raise
