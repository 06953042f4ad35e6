"""Knows the annotations of other controllers, and what becomes of them under pic.

`nginx`, `proxies` and `clouds` hold the table, made from the public documentation of the
controllers. `words` says what a row means, and `reading` applies the table to an Ingress.
docs/moving-from-another-controller.md is generated from it.
"""
