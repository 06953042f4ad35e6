"""Turns plans and reviews into text, Markdown, HTML and JSON; does no I/O."""
