"""No call in the program can run the code of a model that it loads, or open a pickle."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import evenhand

ROOT = Path(evenhand.__file__).parent
UNSAFE_MODULES = {"pickle", "dill", "joblib", "cloudpickle", "shelve", "marshal"}


def calls() -> Iterator[tuple[str, str, ast.Call]]:
    """Place, name and call, for every call in the program."""
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                yield f"{path.relative_to(ROOT)}:{node.lineno}", name, node


def keywords(call: ast.Call) -> dict[str, str]:
    """The keywords of a call with their values as text; `**loading` stands under its own text."""
    return {k.arg or ast.unparse(k.value): ast.unparse(k.value) for k in call.keywords}


def test_transformers_is_never_left_to_ask_whether_to_run_code() -> None:
    loading = [(place, keywords(c)) for place, name, c in calls() if name == "from_pretrained"]
    assert len(loading) >= 8
    # `self.loading` of a network holds what the user typed
    stated = {"trust_remote_code", "self.loading"}
    assert [place for place, given in loading if not stated & set(given)] == []
    fixed = [given.get("trust_remote_code", "False") for _, given in loading]
    assert set(fixed) == {"False"}
    pipelines = [
        (place, keywords(c)) for place, name, c in calls() if name == "pipeline" and c.keywords
    ]
    assert pipelines and all(k.get("trust_remote_code") == "False" for _, k in pipelines)


def test_torch_reads_numbers_only() -> None:
    loads = [
        (place, keywords(c))
        for place, name, c in calls()
        if name == "load" and isinstance(c.func, ast.Attribute) and "torch" in ast.unparse(c.func)
    ]
    assert loads and all(given.get("weights_only") == "True" for _, given in loads)


def test_numpy_reads_no_pickles() -> None:
    loads = [
        keywords(c)
        for _, name, c in calls()
        if name == "load" and ast.unparse(c.func) in ("np.load", "numpy.load")
    ]
    assert loads and all(given.get("allow_pickle") == "False" for given in loads)


def test_no_module_imports_a_pickler() -> None:
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            found += [
                f"{path.relative_to(ROOT)} imports {name}"
                for name in names
                if name.partition(".")[0] in UNSAFE_MODULES
            ]
    assert found == []
