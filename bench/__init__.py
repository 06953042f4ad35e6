"""Measurements: `make bench…`. Nothing here is a test."""
