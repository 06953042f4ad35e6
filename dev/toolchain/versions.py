"""Names the versions that this checkout is developed with; the lock file pins the SDKs."""

PULUMI = "3.274.1"
PULUMI_MINIMUM = (3, 200)  # the first whose CLI has all that the tests use
KUBERNETES = "1.36.3"
KUBERNETES_PLUGIN = "4.25.0"  # the SDK requests exactly this version
