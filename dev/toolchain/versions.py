"""The versions this checkout is developed against. The lock file pins the Python side of each."""

PULUMI = "3.274.1"
PULUMI_MINIMUM = (3, 200)  # the first whose command line has everything the tests use
KUBERNETES = "1.36.3"
KUBERNETES_PLUGIN = "4.25.0"  # the SDK asks the engine for exactly this one
