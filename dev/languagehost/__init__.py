"""Implements the Python language host, through which an engine runs Python programs."""
