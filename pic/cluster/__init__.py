"""Reads from and writes to the Kubernetes API: listings, Events, annotations, access reviews."""
