"""Hands what the targets declare to the engine."""
