"""Turns plans and reviews into text, Markdown, HTML and JSON. No I/O."""
