"""Pi-hole: its records, its two interfaces, and a Pulumi provider for them."""
