"""Holds the development programs: toolchain, control plane, demos. Nothing here ships."""
