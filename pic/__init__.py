"""Turns Kubernetes Ingresses into a reviewed Pulumi diff: the Pangolin Ingress Controller."""
