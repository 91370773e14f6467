"""Tokens: signed, expiring proofs of who sent a request: invitation links, sessions, forms.

They hold random ids and nothing about a person. Every token is signed with the study's secret and a
salt of its own kind, so that one kind never passes for another. Invitations expire by the store
(the owner may revoke them), sessions and forms by the time of their signature.
"""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from itsdangerous import BadData, SignatureExpired, URLSafeSerializer, URLSafeTimedSerializer

from evenhand.core.errors import EvenhandError, StorageError

SECRET_BYTES = 32
HOUR = 3600
SESSION_SECONDS = 12 * HOUR  # the invitation link opens a new one at any time
OWNER_SECONDS = 8 * HOUR
FORM_SECONDS = 12 * HOUR


class TokenError(EvenhandError):
    """A token that this study has not signed."""


class ExpiredTokenError(TokenError):
    """A token that this study has signed, too long ago."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """An annotator's way in; the nonce is a random number that ties forms to this session."""

    annotator: str
    invitation: str
    nonce: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a question's form carries; the key stores its answer once."""

    question: str
    at: float  # when it was shown
    key: str


class Tokens:
    """Signs and reads every kind of token with one secret."""

    def __init__(self, secret: bytes | str) -> None:
        self._invitations = URLSafeSerializer(secret, salt="evenhand.invitation")
        self._sessions = URLSafeTimedSerializer(secret, salt="evenhand.session")
        self._owners = URLSafeTimedSerializer(secret, salt="evenhand.owner")
        self._forms = URLSafeTimedSerializer(secret, salt="evenhand.form")
        self._questions = URLSafeTimedSerializer(secret, salt="evenhand.question")

    def invite(self, invitation: str) -> str:
        """The last part of an invitation link."""
        return _text(self._invitations.dumps(invitation))

    def read_invitation(self, token: str) -> str:
        """The invitation that a link names."""
        return str(_read(self._invitations, token))

    def open_session(self, annotator: str, invitation: str) -> str:
        """A session's cookie."""
        return _text(self._sessions.dumps([annotator, invitation, secrets.token_urlsafe(12)]))

    def read_session(self, token: str) -> Session:
        """The session that a cookie holds."""
        annotator, invitation, nonce = _read(self._sessions, token, SESSION_SECONDS)
        return Session(annotator=annotator, invitation=invitation, nonce=nonce)

    def open_owner(self, name: str, fingerprint: str) -> str:
        """An owner's cookie.

        A new password has a new fingerprint and ends the sessions of the old one.
        """
        return _text(self._owners.dumps([name, fingerprint, secrets.token_urlsafe(12)]))

    def read_owner(self, token: str) -> tuple[str, str, str]:
        """Name, fingerprint of the password, nonce."""
        name, fingerprint, nonce = _read(self._owners, token, OWNER_SECONDS)
        return name, fingerprint, nonce

    def make_form(self, nonce: str) -> str:
        """The hidden field that shows that a form came from a page of this session."""
        return _text(self._forms.dumps(nonce))

    def check_form(self, token: str, nonce: str) -> None:
        """TokenError where the form came from elsewhere or from another session."""
        if not secrets.compare_digest(str(_read(self._forms, token, FORM_SECONDS)), nonce):
            raise TokenError("the form belongs to another session")

    def show_question(self, annotator: str, shown: Shown) -> str:
        """The hidden field of a question's form."""
        return _text(self._questions.dumps([annotator, shown.question, shown.at, shown.key]))

    def read_question(self, token: str, annotator: str) -> Shown:
        """What was shown; TokenError where it was shown to somebody else."""
        recipient, question, at, key = _read(self._questions, token, FORM_SECONDS)
        if recipient != annotator:
            raise TokenError("the question was shown to another annotator")
        return Shown(question=question, at=at, key=key)


def _text(token: str | bytes) -> str:
    return token if isinstance(token, str) else token.decode()


def _read(
    serializer: URLSafeSerializer | URLSafeTimedSerializer, token: str, seconds: int = 0
) -> Any:
    try:
        return (
            serializer.loads(token, max_age=seconds)
            if isinstance(serializer, URLSafeTimedSerializer)
            else serializer.loads(token)
        )
    except SignatureExpired as error:
        raise ExpiredTokenError("the token has expired") from error
    except BadData as error:
        raise TokenError("the token was not made here") from error


def load_secret(path: Path) -> bytes:
    """The secret that signs a study's tokens; made at the first call, for its user alone."""
    try:
        made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        pass
    except OSError as error:
        raise StorageError(
            f"{path}: the study's secret cannot be written ({error.strerror}); "
            "choose a folder that can be written to"
        ) from error
    else:
        with os.fdopen(made, "w") as file:
            file.write(secrets.token_hex(SECRET_BYTES))
            file.flush()
            os.fsync(file.fileno())
    try:
        secret = path.read_bytes().strip()
    except OSError as error:
        raise StorageError(
            f"{path}: the study's secret cannot be read ({error.strerror})"
        ) from error
    if len(secret) < SECRET_BYTES:
        raise StorageError(
            f"{path}: a secret of {len(secret)} bytes; it has at least {SECRET_BYTES}. "
            "Remove the file to have a new one made (links and sessions end)."
        )
    return secret
