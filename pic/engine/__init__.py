"""Brings the plan about with Pulumi: program, targets, state backend, drift."""
