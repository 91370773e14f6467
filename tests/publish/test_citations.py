"""BibTeX of a run: every work that a card names is there, and a BibTeX library reads it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from published_runs import run_of
from runs import EVIL

from evenhand import __version__
from evenhand.core import catalog
from evenhand.core.reference import Reference
from evenhand.publish.citations import (
    EVENHAND,
    Citation,
    bibliography,
    citation_of,
    citations,
    cited_works,
    to_bibtex,
)

ROOT = Path(__file__).resolve().parents[2]
CARDS = {
    **{f"measure {name}": m.card.citation for name, m in catalog.measures().items()},
    **{f"suite {name}": s.citation for name, s in catalog.entries("suites").items()},
}
WORKS = {r.key: r for f in catalog.families().values() for r in f.literature}


def parsed(text: str) -> dict[str, dict[str, str]]:
    """Key -> fields of every entry, by pybtex; `authors` has the family names."""
    database = pytest.importorskip("pybtex.database").parse_string(text, "bibtex")
    return {
        key: {
            **dict(entry.fields),
            "type": entry.type,
            "authors": " ".join(
                " ".join(p.prelast_names + p.last_names) for p in entry.persons.get("author", ())
            ),
        }
        for key, entry in database.entries.items()
    }


@pytest.mark.parametrize("of", sorted(CARDS))
def test_every_work_that_a_card_names_is_there_as_data(of: str) -> None:
    citation = citation_of(of, CARDS[of])
    assert citation.is_complete, f"no Reference for all of: {citation.text}"
    assert len(citation.works) == len(re.findall(r"\(\d{4}\)", CARDS[of]))


@pytest.mark.parametrize("key", sorted(WORKS))
def test_a_work_agrees_with_the_cards_that_name_it(key: str) -> None:
    work = WORKS[key]
    texts = [text for text in CARDS.values() if work.is_cited_in(text)]
    assert texts, "no card names this work"
    names = [name.partition(",")[0] for name in work.authors]
    assert any(all(name in text for name in names) for text in texts)
    assert any(work.title.partition("?")[0] in text for text in texts)
    assert work.key == f"{work.first_author.lower()}{work.year}"
    assert work.doi or work.url.startswith("https://")


def test_first_author_and_year_belong_together() -> None:
    text = "Kaneko et al. (2024), after Dev and Li (2020)"
    assert [w.key for w in cited_works(text)] == ["dev2020"]


def test_evenhand_cites_itself_as_its_file_does() -> None:
    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert EVENHAND.title == cff["title"]
    assert list(EVENHAND.authors) == [a["name"] for a in cff["authors"]]
    assert EVENHAND.version == cff["version"] == __version__
    assert EVENHAND.year == cff["date-released"].year
    titles = {work.title: work for work in WORKS.values()}
    for listed in cff["references"]:
        names = [f"{a['family-names']}, {a['given-names']}" for a in listed["authors"]]
        assert list(titles[listed["title"]].authors) == names
        assert titles[listed["title"]].year == listed["year"]


def test_every_entry_is_read_by_a_bibtex_library() -> None:
    entries = parsed("\n".join(to_bibtex(work) for work in (EVENHAND, *WORKS.values())))
    assert set(entries) == {"evenhand", *WORKS}
    for key, work in WORKS.items():
        entry = entries[key]
        assert entry["type"] == work.kind and entry["year"] == str(work.year)
        assert entry["title"].strip("{}") == work.title
        assert entry["authors"] == " ".join(a.partition(",")[0] for a in work.authors)
        assert entry.get("doi", "") == work.doi
    assert entries["evenhand"]["note"] == f"Version {__version__}"
    assert entries["evenhand"]["authors"] == "{The evenhand authors}"


def test_a_run_cites_its_suite_its_measures_and_evenhand() -> None:
    found = citations(run_of("stereotyped"))
    assert [c.of for c in found[:3]] == ["evenhand", "suite occupation-nli", "measure nli_coal"]
    text = bibliography(found)
    # the effects stand beside scores of all three papers
    wanted = {"evenhand", "anantaprayoon2024", "dev2020", "sharma2021", "luo2023"}
    assert set(parsed(text)) == wanted
    assert "% suite occupation-nli, measure fraction_neutral\n@inproceedings{dev2020," in text


def test_a_citation_without_data_is_an_entry_in_its_own_words() -> None:
    entries = parsed(bibliography([citation_of("suite towns", "nobody (2026), 100 % & more")]))
    assert entries["suite-towns"]["note"] == r"nobody (2026), 100 \% \& more"
    assert bibliography([citation_of("suite mine", "not stated")]) == ""


def test_hostile_words_stay_words() -> None:
    evil = EVIL + " @article{x, title={y}} \n }{"
    work = Reference(key="evil2026", kind="misc", title=evil, authors=(evil,), year=2026)
    found = [
        Citation(of=evil, text=evil, works=(work,), is_complete=False),
        Citation(of="evenhand", text="", works=(EVENHAND,), is_complete=True),
    ]
    entries = parsed(bibliography(found))
    assert len(entries) == 3 and {"evil2026", "evenhand"} <= set(entries)
