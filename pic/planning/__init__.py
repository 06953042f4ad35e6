"""Decides what should exist, what would change and what is refused. No I/O."""
