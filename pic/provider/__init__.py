"""Has what pic's own Pulumi providers share: how the engine reaches them, and its values."""

NOT_CONFIGURED = "the engine has not configured the provider"
INTERRUPTED = "the run ended before this was done: run pic again to finish"
