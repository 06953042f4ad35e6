"""Declares the register: one ConfigMap for each of its buckets that is not empty."""

from importlib.metadata import version

from pic.core import names
from pic.core.model import FIELD_MANAGER, Plan, Snapshot
from pic.core.register import Register
from pic.run.targets.interface import Declaration, Declarations, HookSet
from pic.run.targets.pangolin import declaration
from pic.settings.kinds import register_namespace
from pic.settings.parse import Settings
from pic.settings.stack_file import PROJECT
from pic.snapshot import register

TYPE = "kubernetes:core/v1:ConfigMap"
DELETE_TIMEOUT = "1m"
ANNOTATIONS = {
    "pulumi.com/patchFieldManager": FIELD_MANAGER,
    "pulumi.com/patchForce": "true",
}


def declarations(plan: Plan, snapshot: Snapshot, settings: Settings, stack: str) -> Declarations:
    """Return the ConfigMaps of the register of a plan.

    Args:
        plan: What should exist.
        snapshot: Says which ConfigMaps exist, so that the engine imports those that it lost.
        settings: Name the namespace of the register.
        stack: The value of the stack label.
    """
    stored = (snapshot.registers or {}).get(stack, Register())
    live = {*stored.buckets, *stored.unreadable}
    namespace, planned = register_namespace(settings), plan.register or Register()
    return Declarations(
        TYPE,
        version("pulumi-kubernetes"),
        declaration.provider(snapshot.cluster_id, settings),
        HookSet.NONE,
        DELETE_TIMEOUT,
        [
            _declaration(digit, data, namespace, stack, is_live=digit in live)
            for digit, data in register.data(planned).items()
        ],
    )


def pulumi_name(digit: str) -> str:
    """Return the Pulumi name of the ConfigMap of a bucket."""
    return f"register-{digit}"


def _declaration(
    digit: str, data: dict[str, str], namespace: str, stack: str, *, is_live: bool
) -> Declaration:
    name = names.register_name(stack.removeprefix(f"{PROJECT}."), digit)
    inputs = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {names.STACK_LABEL: stack, names.BUCKET_LABEL: digit},
            "annotations": ANNOTATIONS,
        },
        "data": data,
    }
    return Declaration(pulumi_name(digit), inputs, f"{namespace}/{name}" if is_live else "")
