"""Every code block of the tutorial, of the how-tos and of the families' pages runs, and prints what
the page says.

Blocks that need published data or torch are run where these are. Suites are cut to a few probes
where a command states no limit of its own.
"""

from __future__ import annotations

import importlib.resources
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from page_blocks import PAGES, ROOT, PageError, blocks_of, check_output, run_page

from evenhand.core.suite import Suite
from evenhand.engine import suites

FEW = 40  # probes of a suite that a page asks whole
README_FEW = 240
HOW_TO = ("gate", "models", "predictions", "tables", "language", "study", "python", "explorer")
FAMILIES = sorted(path.stem for path in PAGES.glob("family-*.md"))
RUN = ("tutorial", *HOW_TO, "gendered-entailment", *FAMILIES)
STATED = {"tutorial", "tables"}  # state every limit themselves
ELSEWHERE = {"publishing", "extending"}  # run by tests of their own
WITH_TORCH = [n for n in RUN if "<!-- needs: torch" in (PAGES / f"{n}.md").read_text("utf-8")]
# how much of a page must have been run, so that a mark of the page cannot empty the test
LEAST = {"tutorial": 6, "gate": 8, "models": 5, "predictions": 4, "language": 4, "python": 7}


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all pages: they ask the embedded model the same probes."""
    return tmp_path_factory.mktemp("answers")


@pytest.fixture
def room(tmp_path: Path, answers: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with the model that pages call their reader's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVENHAND_CACHE", str(answers))
    embedded = importlib.resources.files("evenhand") / "models" / "default"
    shutil.copytree(str(embedded), tmp_path / "my-model")
    return tmp_path


def cut_to(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Suites without a limit have at most `few` probes."""
    whole: Callable[[Suite, int | None, int], Suite] = suites.limited

    def limited(suite: Suite, limit: int | None, seed: int) -> Suite:
        return whole(suite, limit or few, seed)

    monkeypatch.setattr(suites, "limited", limited)


@pytest.fixture
def published(request: pytest.FixtureRequest) -> Path | None:
    """The folder of published data, None where it is not."""
    try:
        folder: Path = request.getfixturevalue("data")
    except pytest.skip.Exception:
        return None
    return folder


@pytest.mark.parametrize("page", RUN)
def test_the_blocks_of_a_page_run(
    page: str, room: Path, published: Path | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if page not in STATED:
        cut_to(FEW, monkeypatch)
    ran = run_page(f"{page}.md", data=published)
    assert len(ran) >= LEAST.get(page, 0)


@pytest.mark.torch
@pytest.mark.filterwarnings("default:some sentences have characters that the tokeniser")
@pytest.mark.parametrize("page", WITH_TORCH)
def test_the_blocks_of_a_page_run_with_torch(
    page: str, room: Path, published: Path | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_to(FEW, monkeypatch)
    run_page(f"{page}.md", data=published)


def test_the_readme_leads_to_a_failed_gate_in_three_commands(
    room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_to(README_FEW, monkeypatch)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    first = next(block for block in blocks_of(text) if "evenhand gate" in block.body)
    assert [line.split()[0] for line in first.body.splitlines()] == ["pip", "evenhand", "evenhand"]
    page = room / "readme.md"
    page.write_text(f"<!-- exit: 0 1 -->\n```console\n{first.body}```\n", encoding="utf-8")
    audited, judged = run_page(page)
    assert "--max nli_coal=0.25" in judged.code
    assert "The gate fails" in judged.out
    assert "FAIL: nli_coal is 0." in judged.out
    assert "and at most 0.25 is allowed (0 is fair)" in " ".join(judged.out.split())
    assert "NLI-CoAL" in audited.out


def test_every_how_to_and_family_is_run_by_a_test() -> None:
    conf: dict[str, object] = {}
    source = (PAGES / "conf.py").read_text(encoding="utf-8")
    start = source.index("NAVIGATION = ")
    exec(source[start : source.index("\n}\n", start) + 3], conf)
    navigation = conf["NAVIGATION"]
    assert isinstance(navigation, dict)
    pages = {*navigation["Tutorial"], *navigation["How to"], *navigation["Families"]}
    assert pages == {*RUN, *ELSEWHERE}
    written = {path.stem for path in PAGES.glob("*.md")} - {"index"}
    shown = {name for names in navigation.values() for name in names if "/" not in name}
    assert written == shown


@pytest.mark.parametrize(
    "page",
    [
        "```console\nevenhand show no_such_measure\n```\n",
        "<!-- exit: 1 -->\n```console\nevenhand --version\n```\n",
        "```console\nevenhand --version\n```\n\n```text\nevenhand 99\n```\n",
        "```python\nprint(1)\n```\n\n```text\n2\n```\n",
        "```python\nprint(1)\nprint(2)\n```\n\n```text\n2\n1\n```\n",
        "```console\nrm -r runs\n```\n",
        "```python\nprint(1)\n```\n\n<!-- numbers: x -->\n```text\n2\n```\n<!-- end -->\n",
    ],
)
def test_a_page_that_says_something_wrong_is_seen(page: str, room: Path) -> None:
    path = room / "page.md"
    path.write_text(page, encoding="utf-8")
    with pytest.raises(PageError):
        run_page(path)


def test_what_is_left_out_of_an_output_may_be_anything() -> None:
    check_output("a ... c\n...\ne", "a b c\nd\ne\n")
    with pytest.raises(PageError):
        check_output("a ... c", "a b d\n")


def test_blocks_are_skipped_only_where_the_page_says_so(room: Path) -> None:
    path = room / "page.md"
    path.write_text(
        "<!-- needs: no_such_package -->\n```console\nevenhand nothing\n```\n\n```text\nx\n```\n"
        "<!-- not run: an example -->\n```console\nevenhand nothing\n```\n"
        "<!-- needs: data -->\n```console\nevenhand nothing DIR\n```\n"
        "<!-- file: a/b.txt -->\n```text\nwritten\n```\n"
        "```python\nprint(open('a/b.txt').read())\n```\n",
        encoding="utf-8",
    )
    (ran,) = run_page(path)
    assert ran.out == "written\n\n"
