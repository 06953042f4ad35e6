"""The door to the Kubernetes API: listings, Events, annotations, access reviews."""
