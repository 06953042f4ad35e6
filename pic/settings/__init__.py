"""Reads what the platform team decided, and checks all of it at once."""
