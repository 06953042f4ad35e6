"""Tests who deployed, with which commit and in which job."""

import pytest

from pic.run.provenance import Provenance, message, of_environment, read

TOLD = Provenance("alice", "abc", "https://ci/1", "3f1c")


@pytest.mark.parametrize(
    ("environment", "provenance"),
    [
        ({}, Provenance()),
        ({"USER": "alice", "LOGNAME": "bob"}, Provenance("alice")),
        (
            {
                "USER": "runner",
                "GITHUB_ACTOR": "alice",
                "GITHUB_SHA": "abc",
                "GITHUB_SERVER_URL": "https://github.com",
                "GITHUB_REPOSITORY": "o/r",
                "GITHUB_RUN_ID": "7",
            },
            Provenance("alice", "abc", "https://github.com/o/r/actions/runs/7"),
        ),
        (
            {
                "GITLAB_USER_LOGIN": "bob",
                "CI_COMMIT_SHA": "def",
                "CI_JOB_URL": "https://me:secret@git.example.com/1",
            },
            Provenance("bob", "def", "https://git.example.com/1"),
        ),
        ({"PIC_ACTOR": "x" * 300, "BUILD_URL": "http://[", "USER": "y"}, Provenance("x" * 200)),
        ({"USER": "a\nCommit: forged"}, Provenance("a\\u000aCommit: forged")),
    ],
)
def test_the_environment_says_who_deploys(
    environment: dict[str, str], provenance: Provenance
) -> None:
    assert of_environment(environment) == provenance


def test_a_message_is_read_back() -> None:
    acknowledged = of_environment({}, "3f1c")

    assert message(Provenance()) == ""
    assert message(acknowledged) == "pic\n\nAcknowledged: 3f1c"
    assert read(message(TOLD), {}) == TOLD


def test_the_message_of_another_tool_counts_for_nothing() -> None:
    metadata = {"git.author": "carol", "git.head": "123", "ci.system": "Jenkins"}

    assert read("Actor: mallory", metadata) == Provenance("carol", "123", "Jenkins")
    assert read("pic\n\nActor: ", {}) == Provenance()
