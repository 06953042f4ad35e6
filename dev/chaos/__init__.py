"""Changes Ingresses at random while everything fails that can, and lets a witness judge pic."""
