"""The Python language host: how a Pulumi engine starts Python programs and Python providers."""
