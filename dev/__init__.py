"""Development programs: the toolchain, the control plane, examples. Nothing here ships."""
