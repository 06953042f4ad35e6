"""Reads and writes the DNS records of a Pi-hole, and offers them to Pulumi as resources."""
