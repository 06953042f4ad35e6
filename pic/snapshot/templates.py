"""Says how to render a template that pic was given in place of manifests."""

from pathlib import Path

from pic.core import rendering_commands

CHART = "Chart.yaml"


def hint(source: str) -> str:
    """Return how to render a file that contains templates.

    Args:
        source: The path of the file as the user named it, or the name of another source.
    """
    chart = next(filter(_is_chart, Path(source).parents), None)
    if chart is None:
        command = rendering_commands.helm(".")
        return f"if this is a Helm template, run this in the folder of its chart: {command}"
    command = rendering_commands.helm(str(chart))
    return f"this is a template of a Helm chart, so render the chart: {command}"


def _is_chart(folder: Path) -> bool:
    try:
        return (folder / CHART).is_file()
    except OSError:
        return False
