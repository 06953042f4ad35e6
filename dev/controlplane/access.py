"""Creates the credentials of a control plane: tokens, the signing key, kubeconfig files."""

import base64
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dev.controlplane.errors import ControlPlaneError

ADMIN, ADMIN_GROUP = "admin", "system:masters"
SERVICE_ACCOUNT = "system:serviceaccount:"

P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
# ECPrivateKey of RFC 5915, version 1, curve P-256, without the optional public key.
EC_HEAD, EC_TAIL = bytes.fromhex("303102010104 20"), bytes.fromhex("a00a06082a8648ce3d030107")

KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: pic-dev
contexts:
  - name: pic-dev
    context: {{cluster: pic-dev, user: "{user}"}}
clusters:
  - name: pic-dev
    cluster:
      server: {server}
      certificate-authority-data: {authority}
users:
  - name: "{user}"
    user: {{token: "{token}"}}
"""


@dataclass(frozen=True)
class Users:
    """Holds users, their groups and tokens; the API server reads them once, when it starts."""

    groups: Mapping[str, Sequence[str]]
    tokens: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", {user: secrets.token_hex(16) for user in self.groups})

    def token(self, user: str, groups: Sequence[str]) -> str:
        """Return the token of a user.

        Raises:
            ControlPlaneError: The user does not exist, or is not in these groups.
        """
        if user not in self.groups or not set(groups) <= set(self.groups[user]):
            users = ", ".join(
                f"{name} {list(groups)}" for name, groups in sorted(self.groups.items())
            )
            raise ControlPlaneError(
                f"no user {user} in groups {list(groups)} exists; the users are {users}. The API "
                f"server reads them when it starts: name the user in ControlPlane(users=…), or use "
                f"a service account"
            )
        return self.tokens[user]

    def csv(self) -> str:
        """Return the static token file: token, user, uid, groups."""
        return "".join(
            f'{self.tokens[user]},{user},{user},"{",".join(groups)}"\n'
            for user, groups in self.groups.items()
        )


def signing_key() -> str:
    """Return a new private key as PEM; the API server derives the public key from it."""
    number = secrets.randbelow(P256_ORDER - 1) + 1
    text = base64.encodebytes(EC_HEAD + number.to_bytes(32, "big") + EC_TAIL).decode()
    return f"-----BEGIN EC PRIVATE KEY-----\n{text}-----END EC PRIVATE KEY-----\n"


def authority_of(chain: str) -> str:
    """Return the last certificate of a PEM chain: the one that signed the server certificate."""
    begin = "-----BEGIN CERTIFICATE-----"
    return begin + chain.rsplit(begin, maxsplit=1)[1]


def write_private(path: Path, text: str) -> Path:
    """Write a file that only its owner may read, atomically."""
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    fresh.touch(mode=0o600)
    fresh.write_text(text)
    return fresh.rename(path)
