"""Fills the store of an evaluator from an API server, as its followers would."""

from pic.cluster import listing
from pic.watch.evaluation import Evaluator
from pic.watch.store import object_key, pack


def refill(evaluator: Evaluator) -> None:
    """Replace the content of the store with what the server has."""
    for collection in listing.listings(evaluator.config.settings):
        objects = listing.list_objects(evaluator.transport, collection)
        packed = {object_key(raw): pack(collection.kind.name, raw) for raw in objects}
        evaluator.store.replace(collection, packed)
