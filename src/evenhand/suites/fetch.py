"""How does published data come onto this machine? Downloaded once, checked against a pinned digest, kept in the cache.

EVENHAND_MIRROR: a base address that replaces `https://raw.githubusercontent.com` (a mirror behind a firewall). EVENHAND_OFFLINE=1: never fetch.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from evenhand.core.errors import LoadError
from evenhand.core.folders import cache_folder
from evenhand.core.storage import write_atomic

HOST = "https://raw.githubusercontent.com"
SECONDS = 30.0


def text_digest(raw: bytes) -> str:
    """SHA-256 of the text, whatever its line endings and with or without a byte-order mark."""
    return hashlib.sha256(raw.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")).hexdigest()


def fetch(repository: str, commit: str, path: str, sha256: str, *, advice: str) -> Path:
    """The local copy of a file of a public repository, at one commit, with one digest."""
    local = cache_folder() / "data" / repository.replace("/", "--") / commit[:12] / path
    if local.exists() and text_digest(local.read_bytes()) == sha256:
        return local
    url = f"{os.environ.get('EVENHAND_MIRROR', HOST).rstrip('/')}/{repository}/{commit}/{path}"
    if os.environ.get("EVENHAND_OFFLINE") == "1":
        raise LoadError(f"{url} is not on this machine and EVENHAND_OFFLINE=1 forbids fetching it. {advice}")
    import httpx

    try:
        answer = httpx.get(url, timeout=SECONDS, follow_redirects=True)
        answer.raise_for_status()
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__  # httpx adds a line that points at a manual
        raise LoadError(f"cannot fetch {url} ({reason}). {advice}") from error
    if (found := text_digest(answer.content)) != sha256:
        raise LoadError(
            f"{url} has SHA-256 {found[:16]}..., expected {sha256[:16]}...: the published file changed or the download broke. {advice}"
        )
    write_atomic(local, answer.content)
    return local
