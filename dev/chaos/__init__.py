"""Changes Ingresses at random while all that can fails, and a tenant attacks; a witness judges."""
