"""Prepares one run, before anything changes: settings, snapshot, plan and changes."""
