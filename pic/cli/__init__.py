"""Implements the command line: its verbs, flags and exit codes, `pic init` and `pic doctor`."""
