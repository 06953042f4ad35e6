"""The resident mode: watch, plan, and run when something differs."""
