"""The state backend of a stack: its state, locks and history, and where they are stored."""
