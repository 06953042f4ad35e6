"""Tests how the register becomes ConfigMaps, and what is read from them."""

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from pic.core.json_values import Raw
from pic.core.names import BUCKET_LABEL, STACK_LABEL, object_name
from pic.core.register import (
    Bucket,
    GoneBy,
    HostEntry,
    RecordEntry,
    Register,
    RegisterStatus,
    bucket_of,
)
from pic.snapshot import register
from tests.support import memories
from tests.support.memories import CLUSTER, STACK_ID, entry

A, B = "a.example.com", "b.example.com"
DIGIT, OTHER = bucket_of(A), bucket_of(B)
HEAD = json.dumps({"stack": STACK_ID, "cluster": CLUSTER, "serial": 3})
READ = RegisterStatus.READ


def config_map(data: object, digit: str = DIGIT, stack: str = "pic.prod") -> Raw:
    return {"metadata": {"labels": {STACK_LABEL: stack, BUCKET_LABEL: digit}}, "data": data}


def config_maps(content: Register, stack: str = "pic.prod") -> list[Raw]:
    return [config_map(data, digit, stack) for digit, data in register.data(content).items()]


FULL = memories.register(
    [
        entry(A, sso=True, block_access=True, gone="2026-01-01T00:00:00Z", gone_by=GoneBy.PIC),
        replace(entry(B, serial=7), name="by-hand", tunnel="", since="", source="Ingress/x"),
    ],
    [
        RecordEntry(f"{A}/A", "192.0.2.1", "prod", "Ingress/web", "2025-01-01T00:00:00Z", 2),
        RecordEntry(f"{A}/AAAA", "2001:db8::1", "prod", gone="t", gone_by=GoneBy.KUBERNETES),
        RecordEntry("nas.lan/A", "192.0.2.2", "lab"),
    ],
)


def test_a_register_is_read_as_it_was_written() -> None:
    assert register.read(config_maps(FULL)) == {"pic.prod": FULL}


def test_an_empty_register_is_no_config_map() -> None:
    assert register.data(Register(READ)) == {}
    assert register.read([]) == {}


def test_each_host_is_one_readable_line_and_its_usual_name_is_left_out() -> None:
    named = replace(entry(A), name="by-hand")
    usual = memories.register([entry(A)], [RecordEntry(f"{A}/A", "192.0.2.1", "prod")])

    assert register.data(usual) == {
        DIGIT: {
            "_bucket": '{"stack":"0a0a0a0a","cluster":"cluster-1","serial":1}',
            A: (
                '{"namespace":"prod","source":"Ingress/web","tunnel":"prod/default",'
                '"since":"2025-01-01T00:00:00Z","serial":1,'
                '"A":{"ip":"192.0.2.1","namespace":"prod"}}'
            ),
        }
    }
    [line] = [data[A] for data in register.data(memories.register([named])).values()]
    assert json.loads(line)["name"] == "by-hand"


def test_a_host_in_a_bucket_without_a_head_is_written_with_an_empty_head() -> None:
    content = Register(READ, {A: entry(A)})

    assert register.data(content)[DIGIT]["_bucket"] == "{}"
    assert register.read(config_maps(content))["pic.prod"].buckets == {DIGIT: Bucket()}


def test_a_host_without_optional_values_is_read_with_their_defaults() -> None:
    body = config_map({"_bucket": HEAD, A: '{"namespace":"prod","source":"Ingress/web"}'})

    usual = HostEntry(A, "prod", object_name("prod", "web", A), "Ingress/web")
    assert register.read([body]) == {
        "pic.prod": Register(READ, {A: usual}, {}, {DIGIT: Bucket(STACK_ID, CLUSTER, 3)})
    }


def test_only_true_is_a_login_and_only_a_host_with_a_time_is_gone() -> None:
    value = '{"namespace":"prod","login":"yes","block":1,"goneBy":"pic"}'

    [read] = register.read([config_map({A: value})])["pic.prod"].hosts.values()

    assert (read.sso, read.block_access, read.gone, read.gone_by) == (False, False, "", None)


@pytest.mark.parametrize(
    "data",
    [
        "text",
        {"_bucket": "["},
        {"_bucket": "[]"},
        {"_bucket": HEAD, A: "not json"},
        {"_bucket": HEAD, A: "3"},
        {"_bucket": HEAD, A: '{"A":"192.0.2.1"}'},
        {"_bucket": HEAD, A: '{"namespace":"prod","gone":"t","goneBy":"me"}'},
        {"_bucket": HEAD, A: '{"namespace":"prod","gone":"t"}'},
    ],
)
def test_a_bucket_that_was_edited_by_hand_is_unreadable_and_no_other(data: object) -> None:
    other = memories.register([entry(B)])

    read = register.read([config_map(data), *config_maps(other)])

    assert read == {"pic.prod": replace(other, unreadable=(DIGIT,))}


@pytest.mark.parametrize(
    "labels",
    [
        {},
        {STACK_LABEL: "pic.prod"},
        {BUCKET_LABEL: DIGIT},
        {STACK_LABEL: "pic.prod", BUCKET_LABEL: "g"},
        {STACK_LABEL: "pic.prod", BUCKET_LABEL: ""},
        {STACK_LABEL: "pic.prod", BUCKET_LABEL: "01"},
    ],
)
def test_a_config_map_without_a_stack_and_a_digit_is_no_bucket(labels: Mapping[str, str]) -> None:
    assert register.read([{"metadata": {"labels": labels}, "data": {"_bucket": HEAD}}]) == {}


def test_a_host_in_the_bucket_of_another_is_ignored() -> None:
    body = config_map({"_bucket": HEAD, B: '{"namespace":"team","login":false}'})
    ours = memories.register([entry(B, sso=True)])

    assert OTHER != DIGIT
    assert register.read([*config_maps(ours), body])["pic.prod"].hosts == ours.hosts


def test_each_stack_has_its_own_register() -> None:
    ours, theirs = memories.register([entry(A)]), memories.register([entry(A, "team")])

    read = register.read([*config_maps(ours), *config_maps(theirs, "pic.test")])

    assert read == {"pic.prod": ours, "pic.test": theirs}
