"""The parts that come from Go modules, and how each is built. No I/O."""

from dataclasses import dataclass
from pathlib import Path

from dev.toolchain import versions


@dataclass(frozen=True)
class Part:
    """One Go module of this directory and the binary it gives."""

    module: str
    binary: str
    variables: tuple[tuple[str, str], ...]  # what the linker sets: the published module has none
    package: str = "."
    tags: tuple[str, ...] = ()

    @property
    def flags(self) -> tuple[str, ...]:
        """Give the arguments of `go build` that decide what comes out."""
        stamps = "".join(f" -X {name}={value}" for name, value in self.variables)
        tags = ("-tags", ",".join(self.tags)) if self.tags else ()
        return (
            "-trimpath",
            "-buildvcs=false",
            "-mod=readonly",
            *tags,
            "-ldflags",
            f"-s -w{stamps}",
        )

    def directory(self, modules: Path) -> Path:
        """Say where the Go module is."""
        return modules / self.module


_BASE = "k8s.io/component-base/version"
_MAJOR, _MINOR, _ = versions.KUBERNETES.split(".")

# The Automation API refuses a CLI without a version.
PULUMI_CLI = Part(
    module="pulumi-cli",
    binary="pulumi",
    package="github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
    tags=("osusergo", "grpcnotrace"),
    variables=(
        ("github.com/pulumi/pulumi/sdk/v3/go/common/version.Version", f"v{versions.PULUMI}"),
    ),
)
KUBERNETES_PLUGIN = Part(
    module="kubernetes-plugin",
    binary="pulumi-resource-kubernetes",
    variables=(
        (
            "github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version.Version",
            versions.KUBERNETES_PLUGIN,
        ),
    ),
)
CONTROLPLANE = Part(
    module="controlplane",
    binary="controlplane",
    variables=(
        (f"{_BASE}.gitVersion", f"v{versions.KUBERNETES}"),
        (f"{_BASE}.gitMajor", _MAJOR),
        (f"{_BASE}.gitMinor", _MINOR),
        ("k8s.io/client-go/pkg/version.gitVersion", f"v{versions.KUBERNETES}"),
    ),
)
