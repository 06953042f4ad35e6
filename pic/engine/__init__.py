"""Deploys the plan with Pulumi: program, registration, state backend, repair and drift."""
