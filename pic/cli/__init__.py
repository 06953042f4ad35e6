"""The command line: verbs, flags and exit codes, `pic init` and `pic doctor`."""
