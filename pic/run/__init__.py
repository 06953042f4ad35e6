"""One run before anything changes: settings, what was read, plan and changes."""
