"""Ingresses change at random while everything that can fail does; an independent witness judges."""
