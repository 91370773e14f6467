"""Vectors of sentences, read once for all trainings that share an encoder, kept in a .npz file."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import EvenhandError
from evenhand.core.files import cache_folder, write_atomic
from evenhand.respondents.encoder import EncoderRespondent

CHUNK = 2_000  # sentences between two reports of progress
_SHOWN = 80  # letters of a sentence that an error shows


class SentenceVectors:
    """The vectors of one encoder, in a file whose name has its revision.

    In the file, digests stand for the sentences. It carries the encoder's identity and a checksum;
    a file of another encoder, or a damaged one, is computed again.
    """

    def __init__(self, encoder: EncoderRespondent, folder: Path | None = None) -> None:
        self.encoder = encoder
        name = re.sub(r"[^\w@.-]+", "_", encoder.identity)
        self.path = (folder or cache_folder() / "vectors") / f"{name}.npz"

    def read(
        self, texts: Iterable[str], report: Callable[[int, int], None] = lambda _done, _all: None
    ) -> tuple[dict[str, int], NDArray[np.float32]]:
        """The row of every distinct text, and the rows.

        Raises EvenhandError that shows a sentence which the encoder cannot read.
        """
        keys = {text: _key(text) for text in dict.fromkeys(texts)}
        known = self._stored()
        fresh = [text for text, key in keys.items() if key not in known]
        for start in range(0, len(fresh), CHUNK):
            chunk = fresh[start : start + CHUNK]
            report(start, len(fresh))
            known |= zip((keys[text] for text in chunk), self._embed(chunk), strict=True)
        if fresh:
            report(len(fresh), len(fresh))
            self._write(self._stored() | known)  # another run may have written meanwhile
        rows = np.stack([known[key] for key in keys.values()])
        return {text: row for row, text in enumerate(keys)}, rows

    def _embed(self, texts: list[str]) -> NDArray[np.float32]:
        vectors = self.encoder.embed(texts)
        lost = [
            text
            for text, row in zip(texts, vectors, strict=True)
            if not (row.size and np.isfinite(row).all())
        ]
        if lost:
            raise EvenhandError(
                f"{self.encoder.identity} has no vector for '{lost[0][:_SHOWN]}' and "
                f"{len(lost) - 1} more sentences: they are longer than its "
                f"{self.encoder.network.longest} tokens. Leave such pairs out of the files."
            )
        return vectors.astype(np.float32)

    def _stored(self) -> dict[bytes, NDArray[np.float32]]:
        try:
            with np.load(self.path, allow_pickle=False) as stored:
                keys, vectors, checksum = stored["keys"], stored["vectors"], str(stored["checksum"])
        except Exception:  # zip, numpy and the system each have their own exceptions
            return {}  # missing or damaged: the vectors can be computed again
        if checksum != self._checksum(keys, vectors):
            return {}
        return dict(zip(keys.tolist(), vectors, strict=True))

    def _write(self, known: dict[bytes, NDArray[np.float32]]) -> None:
        keys = np.asarray(list(known), dtype="S32")
        vectors = np.stack(list(known.values())).astype("<f4")
        raw = io.BytesIO()
        np.savez(raw, keys=keys, vectors=vectors, checksum=self._checksum(keys, vectors))
        write_atomic(self.path, raw.getvalue())

    def _checksum(self, keys: NDArray[Any], vectors: NDArray[Any]) -> str:
        """SHA-256 of the encoder's identity, the keys and the vectors."""
        state = hashlib.sha256(f"{self.encoder.identity}\n{vectors.shape}\n".encode())
        state.update(keys.tobytes())
        state.update(vectors.tobytes())
        return state.hexdigest()


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest().encode()
