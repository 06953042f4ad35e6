"""Defines what all layers share: values, names, notices, errors and log lines."""
