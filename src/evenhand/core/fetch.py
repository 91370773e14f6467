"""Published data: fetched once, checked against a pinned digest, kept in the cache.

EVENHAND_MIRROR: a base address that replaces `https://raw.githubusercontent.com` (a mirror behind
a firewall). EVENHAND_OFFLINE=1: never fetch.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from evenhand.core.errors import InputError, LoadError
from evenhand.core.files import cache_folder, write_atomic

HOST = "https://raw.githubusercontent.com"
SECONDS = 30.0
CHANGED, UNVERIFIED = "changed", "unverified"  # marks at the end of a suite's version


def text_digest(raw: bytes) -> str:
    """SHA-256 of the text, whatever its line endings and with or without a byte-order mark."""
    return hashlib.sha256(raw.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")).hexdigest()


def data_folder(data: Path | None) -> Path | None:
    """The folder of published data: --data, else EVENHAND_DATA, else none."""
    if data is None and (folder := os.environ.get("EVENHAND_DATA")):
        return Path(folder)
    return data


def find_published(folder: str, name: str, data: Path | None, advice: str) -> Path:
    """The path of a published file that evenhand does not fetch itself.

    It lies in the folder of published data or in its subfolder `folder`. Raises LoadError or
    InputError, with the advice, where it does not.
    """
    data = data_folder(data)
    if data is None:
        raise LoadError(f"{name} is not on this machine. {advice}")
    for root in (data, data / folder):
        if (root / name).exists():
            return root / name
    raise InputError(data, f"has no {folder}/{name}. {advice}")


def published_version(version: str, path: Path, sha256: str | None) -> str:
    """The version of a published file: as it is where the file or its text has the pinned digest.

    Marked as changed where it has another, as unverified where no digest is known (None).
    """
    if sha256 is None:
        return f"{version}-{UNVERIFIED}"
    raw = path.read_bytes()
    is_published = sha256 in (hashlib.sha256(raw).hexdigest(), text_digest(raw))
    return version if is_published else f"{version}-{CHANGED}"


def version_note(version: str) -> str:
    """What must be said about a version that is marked as changed or unverified; else nothing."""
    if version.endswith(f"-{CHANGED}"):
        return "The suite's file is not the published one: its text has another digest."
    if version.endswith(f"-{UNVERIFIED}"):
        return (
            "Whether the suite's file is the published one was not verified: "
            "no digest of the published file is known."
        )
    return ""


def fetch(repository: str, commit: str, path: str, sha256: str, *, advice: str) -> Path:
    """The local copy of a file of a public repository, at one commit, with one digest."""
    local = cache_folder() / "data" / repository.replace("/", "--") / commit[:12] / path
    if local.exists() and text_digest(local.read_bytes()) == sha256:
        return local
    url = f"{os.environ.get('EVENHAND_MIRROR', HOST).rstrip('/')}/{repository}/{commit}/{path}"
    if os.environ.get("EVENHAND_OFFLINE") == "1":
        raise LoadError(
            f"{url} is not on this machine and EVENHAND_OFFLINE=1 forbids fetching it. {advice}"
        )
    import httpx

    try:
        answer = httpx.get(url, timeout=SECONDS, follow_redirects=True)
        answer.raise_for_status()
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        # the first line only: httpx adds a second one that points at a manual
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise LoadError(f"cannot fetch {url} ({reason}). {advice}") from error
    if (digest := text_digest(answer.content)) != sha256:
        raise LoadError(
            f"{url} has SHA-256 {digest[:16]}..., expected {sha256[:16]}...: "
            f"the published file changed or the download broke. {advice}"
        )
    write_atomic(local, answer.content)
    return local
