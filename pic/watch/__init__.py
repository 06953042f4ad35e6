"""Follows the cluster, plans in memory, and starts a run when something differs."""
