"""Lists the parts that are built from Go modules, and how. No I/O."""

from dataclasses import dataclass
from pathlib import Path

from dev.toolchain import versions


@dataclass(frozen=True)
class Part:
    """Describes one Go module of this directory and the binary that it builds."""

    module: str
    binary: str
    # The linker sets them, because the published module has no version.
    variables: tuple[tuple[str, str], ...]
    package: str = "."
    tags: tuple[str, ...] = ()

    @property
    def flags(self) -> tuple[str, ...]:
        """The arguments of `go build` that affect its result."""
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
        """Return the directory of the Go module."""
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
