"""Declares one CustomResource per host with default settings, as a first attempt would."""  # noqa: INP001 - a Pulumi program, not a module

import json
from pathlib import Path

from pulumi_kubernetes.apiextensions import CustomResource

for item in json.loads(Path("objects.json").read_text())["items"]:
    CustomResource(
        item["spec"]["name"],
        api_version=item["apiVersion"],
        kind=item["kind"],
        metadata=item["metadata"],
        spec=item["spec"],
    )
