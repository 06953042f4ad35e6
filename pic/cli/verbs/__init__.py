"""Implements the verbs of the command line, one module each; `pic.cli.main` registers them."""
