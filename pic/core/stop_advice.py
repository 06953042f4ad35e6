"""Finds the advice on whatever stopped an Ingress or a host, also where that is no notice."""

from collections.abc import Mapping

from pic.core.advice import ADVICE, Advice
from pic.core.held import Verdict
from pic.core.notices import Reason
from pic.core.sources import Ignored

# Why pic does not look after an Ingress; this is no notice.
IGNORED_ADVICE: Mapping[Ignored, Advice] = {
    Ignored.OTHER_CLASS: Advice(
        "The class of the Ingress is not one of pic:ingressClasses.",
        "To expose it with pic, set spec.ingressClassName to a class of pic.",
    ),
    Ignored.MISSPELT_CLASS: Advice(
        "The class of the Ingress is almost one of pic:ingressClasses.",
        "Correct spec.ingressClassName.",
    ),
    Ignored.NO_CLASS: Advice(
        "The Ingress has no class, and no class of pic is the default one.",
        "Set spec.ingressClassName to a class of pic.",
    ),
    Ignored.DISABLED: Advice(
        "The annotation enabled of the Ingress is false.",
        "Remove the annotation, or set it to true.",
    ),
    Ignored.NO_RECORDS: Advice(
        "The stack has DNS records only, and the Ingress requests none.",
        "To get DNS records, set the annotation register to true.",
    ),
}


def advice_on(reason: str) -> Advice:
    """Return the advice on whatever stopped an Ingress or a host.

    Args:
        reason: A `Reason`, an `Ignored`, or a `Verdict` of the guard.
    """
    if reason in {str(ignored) for ignored in Ignored}:
        return IGNORED_ADVICE[Ignored(reason)]
    if reason == Verdict.OUTSIDE:
        return ADVICE[Reason.LEFT_OUTSIDE]
    return ADVICE[Reason.HELD if reason in {str(it) for it in Verdict} else Reason(reason)]
