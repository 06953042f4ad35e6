"""Registers the declarations of the targets with the engine."""
