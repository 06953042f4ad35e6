"""Turns raw Kubernetes objects and manifest files into one snapshot of values."""
