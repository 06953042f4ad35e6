"""Tests the table of settings: its rows, and how the documentation shows them."""

import dataclasses

from pic.settings.fields import FIELDS
from pic.settings.parse import Settings, settings_table


def test_the_table_of_fields_has_a_row_for_each_attribute_in_order() -> None:
    names = [field.name for field in dataclasses.fields(Settings)]

    assert [row.attribute for row in FIELDS] == names
    assert [row[0] for row in settings_table()] == [row.key for row in FIELDS]


def test_the_table_shows_defaults_in_the_notation_of_a_stack_file() -> None:
    shown = {row[0]: row[2] for row in settings_table() if row[2]}

    assert shown == {
        "ingressClasses": "pangolin, pangolin-*",
        "defaultTunnel": "default",
        "backendScheme": "http",
        "clusterDomain": "cluster.local",
        "allowExternalName": "false",
        "resourceSchema": "auto",
        "pathRouting": "warn",
        "foreignProtection": "warn",
        "operatorLimit": "20",
        "tenants": "many",
        "maxRemovals": "5",
        "maxRemovalRatio": "0.2",
        "removalWindow": "1440m",
        "maxRetargeted": "10",
        "adopt": "false",
        "events": "true",
        "targets": "pangolin",
        "resyncPeriod": "5m",
        "logLevel": "info",
        "ownerReferences": "true",
        "unpublish": "off",
        "lockTimeout": "30m",
        "keepHistory": "50",
        "piholeApi": "v6",
        "piholeTakeOver": "false",
        "piholeAnnotate": "true",
        "piholeInsecure": "false",
    }


def test_a_row_of_the_table_describes_one_setting() -> None:
    assert settings_table()[1] == (
        "namespaces",
        "namespace names, as a list or separated by commas",
        "",
        "PIC_WATCH_NAMESPACES, WATCH_NAMESPACE",
        "The namespaces in which pic reads Ingresses and Services. Empty means all namespaces."
        " Objects of other namespaces do not count in manifest files either.",
    )
