"""Describes the settings that say where the targets are, as `pic.settings.fields` does for all."""

import re

from pic.settings import readers
from pic.settings.field import Field, PiholeApi, TakeOver

BOOLEAN = "true or false (also yes, no, on, off, 1, 0)"
_ORG = readers.matching(re.compile(r"[A-Za-z0-9]([A-Za-z0-9_-]*[A-Za-z0-9])?"), longest=64)

TARGET_FIELDS = (
    Field(
        "pangolinUrl",
        readers.unless_empty(readers.web_address, ""),
        "an http or https URL without user, password and query",
        "The URL of Pangolin's Integration API, such as https://api.example.com, for the target"
        " pangolin-api.",
        ("PANGOLIN_URL",),
    ),
    Field(
        "pangolinOrg",
        readers.unless_empty(_ORG, ""),
        "the id of an organisation in Pangolin",
        "The organisation whose sites, base domains and resources pic uses, for the target"
        " pangolin-api.",
        ("PANGOLIN_ORG",),
    ),
    Field(
        "pangolinCa",
        readers.single_line,
        "a path",
        "A PEM file with certificates that pic trusts when it connects to Pangolin's Integration"
        " API.",
    ),
    Field(
        "piholeUrl",
        readers.unless_empty(readers.web_address, ""),
        "an http or https URL without user, password and query",
        "The URL of Pi-hole.",
        ("PIHOLE_URL",),
    ),
    Field(
        "piholeTargetIp",
        readers.unless_empty(readers.ipv4, ""),
        "an IPv4 address",
        "The address in DNS records, unless an annotation of the Ingress sets another one.",
        ("DEFAULT_TARGET_IP",),
    ),
    Field(
        "piholeAllowAddresses",
        readers.list_of(readers.network),
        "IP addresses and networks, as a list or separated by commas",
        "Addresses that DNS records may have although they lead nowhere on another host: loopback,"
        " link-local, multicast and unspecified ones.",
    ),
    Field(
        "piholeApi",
        readers.one_of(PiholeApi),
        "v6 or dns-local",
        "The Pi-hole API that pic uses.",
    ),
    Field(
        "piholeTakeOver",
        readers.boolean_or({"pic": "pic", "all": "true", "none": "false"}, TakeOver),
        "pic, all or none; true is all, false is none",
        "Take over existing records of our hosts that this stack did not create: pic takes those"
        " that pic made in another cluster or for another stack, all takes those that no other"
        " stack of this cluster made.",
    ),
    Field(
        "piholeAnnotate",
        readers.boolean,
        BOOLEAN,
        "Annotate each Ingress with the hosts that pic registered in Pi-hole.",
    ),
    Field(
        "piholeCa",
        readers.single_line,
        "a path",
        "A PEM file with certificates that pic trusts when it connects to Pi-hole.",
    ),
    Field(
        "piholeServerName",
        readers.unless_empty(readers.domain, ""),
        "a DNS name such as pi.hole",
        "The name in Pi-hole's certificate, when it differs from the name in the URL.",
    ),
    Field(
        "piholeInsecure",
        readers.boolean,
        BOOLEAN,
        "Accept any certificate from Pi-hole. Whoever can intercept the connection can then"
        " read the password.",
    ),
)
