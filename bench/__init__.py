"""Holds the measurements behind `make bench…`; nothing here is a test."""
