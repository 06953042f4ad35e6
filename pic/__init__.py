"""Pangolin Ingress Controller: live Ingresses become a reviewed Pulumi diff."""
