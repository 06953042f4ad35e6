"""The systems a plan is declared in, one module each."""
