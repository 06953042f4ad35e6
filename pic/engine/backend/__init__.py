"""Works with the state backend of a stack: its state, locks, history and stores."""
