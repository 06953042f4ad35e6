"""Declares one CustomResource per host, with default settings: what one would write first."""  # noqa: INP001 - a program of its own

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
