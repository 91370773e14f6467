"""A study file, its defaults and its template; a mistake names its line."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from evenhand.core.errors import EvenhandError, EvenhandWarning, InputError, UnknownNameError
from evenhand.people.plan import count_mix, list_parts
from evenhand.study.study import Study, load_study, open_study, template
from evenhand.study.toml_file import find_lines
from evenhand.study.wording import LANGUAGES

ITEMS = "id,zh,en,ja\n1,甲,one,一\n2,乙,two,二\n3,丙,three,三\n"
INVENTORY = '[[inventory]]\nname = "a"\nfile = "items.csv"\n'


def write(folder: Path, text: str) -> Path:
    path = folder / "pilot.toml"
    path.write_text(text, encoding="utf-8")
    (folder / "items.csv").write_text(ITEMS, encoding="utf-8")
    return path


def test_three_lines_are_a_study(tmp_path: Path) -> None:
    study, suite = open_study(
        write(tmp_path, 'name = "pilot"\nsuite = "contextualised"\nsuite_language = "en"\n')
    )
    assert (study.name, study.languages, study.types) == (
        "pilot",
        ("zh", "en", "ja"),
        ("type1", "type2"),
    )
    assert (study.trial, study.batch, study.batches) == (
        200,
        270,
        None,
    )  # 216 measuring sentences: 27 + 27 + 189 make 270 questions
    assert count_mix(study, study.batch, 32) == (27, 27, 189)
    assert list_parts(study, suite) == ("trial", "batch-1")
    assert (study.least_accuracy, study.least_consistency, study.seed, study.pay) == (
        0.8,
        0.6,
        0,
        {},
    )
    assert study.store == f"sqlite:///{tmp_path}/pilot.db"
    assert study.secret_file == tmp_path / "pilot.secret"
    assert study.title["ja"] == "文を読む"
    assert set(study.consent) == set(LANGUAGES)
    assert suite.card.language == study.suite_language == "en"


def test_every_line_can_be_left_out(tmp_path: Path) -> None:
    assert load_study(write(tmp_path, "# nothing\n")).name == "pilot"


@pytest.mark.parametrize("name", ["pilot", "研究-1"])
def test_the_template_is_valid_and_says_the_defaults(tmp_path: Path, name: str) -> None:
    text = template(name)
    study = load_study(write(tmp_path, text))
    assert study == load_study(write(tmp_path, f'name = "{name}"\n'))
    defaults = dict(
        line[2:].split("#")[0].split(" = ", 1)
        for line in text.splitlines()
        if line.startswith("# ") and line.count(" = ") == 1
    )
    fresh = Study(name=name)
    for key in (
        "trial",
        "batch",
        "seed",
        "accuracy_controls",
        "consistency_controls",
        "least_accuracy",
        "least_consistency",
    ):
        assert json.loads(defaults[key]) == getattr(fresh, key), key


def test_the_template_with_everything_switched_on_is_toml() -> None:
    lines = [
        line[2:] if line.startswith(("# [", "# low", "# high", "# file", "# reversed")) else line
        for line in template("x").splitlines()
    ]
    assert tomllib.loads("\n".join(lines))["inventory"][0]["low"] == 0


def test_no_default_text_tells_what_is_measured(tmp_path: Path) -> None:
    study = load_study(write(tmp_path, "# empty\n"))
    for text in (*study.title.values(), *study.consent.values()):
        for word in ("gender", "bias", "stereotype", "性别", "偏见", "性別", "偏り"):
            assert word not in text.lower()


def test_a_telling_text_is_warned_of(tmp_path: Path) -> None:
    with pytest.warns(EvenhandWarning, match=r"row 3: 'gender' tells people what is measured"):
        load_study(write(tmp_path, 'languages = ["en"]\n[pay]\nen = "A study of gender."\n'))


def test_values_come_as_written(tmp_path: Path) -> None:
    text = (
        'languages = ["en"]\nconsent = "Yes?"\ntrial = 30\nbatch = 50\nbatches = 2\nseed = 7\n'
        "apart = 4\nlimit = 120\nleast_accuracy = 1\n"
    )
    study = load_study(
        write(
            tmp_path, text + 'store = "postgresql+psycopg://me@host/db"\nsecret_file = "/keys/s"\n'
        )
    )
    assert (
        study.trial,
        study.batch,
        study.batches,
        study.seed,
        study.apart,
        study.limit,
        study.least_accuracy,
    ) == (
        30,
        50,
        2,
        7,
        4,
        120,
        1.0,
    )
    assert (study.consent, study.store, study.secret_file) == (
        {"en": "Yes?"},
        "postgresql+psycopg://me@host/db",
        Path("/keys/s"),
    )
    assert study.suite_language == "en"


def test_one_type_has_no_pairs(tmp_path: Path) -> None:
    assert load_study(write(tmp_path, 'types = ["type2"]\n')).consistency_controls == 0


def test_an_inventory_is_read(tmp_path: Path) -> None:
    text = INVENTORY + 'low = 0\nreversed = ["2"]\n[inventory.subscales]\nfirst = ["1", "2"]\n'
    (inventory,) = load_study(write(tmp_path, text)).inventories
    assert (inventory.name, inventory.low, inventory.high, inventory.reversed) == (
        "a",
        0,
        5,
        frozenset({"2"}),
    )
    assert inventory.subscales == {"first": ("1", "2")}
    assert [item.text["ja"] for item in inventory.items] == ["一", "二", "三"]


def test_a_published_key_says_how_an_inventory_is_scored(tmp_path: Path) -> None:
    rows = "".join(f"{n},a{n},b{n},c{n}\n" for n in range(1, 23))
    (tmp_path / "asi.csv").write_text("id,zh,en,ja\n" + rows, encoding="utf-8")
    text = '[[inventory]]\nkey = "ambivalent-sexism"\nfile = "asi.csv"\n'
    (inventory,) = load_study(write(tmp_path, text)).inventories
    assert (inventory.name, inventory.low, inventory.high) == ("ambivalent-sexism", 0, 5)
    assert inventory.reversed == {"3", "6", "7", "13", "18", "21"}
    assert inventory.subscales["complementary gender differentiation"] == ("8", "19", "22")
    for extra, line, reason in (
        ("low = 1\n", 4, "the key ambivalent-sexism says low; leave the line out, or the key"),
        ("", 3, "has the items 1 to 8, but asi.csv has '9'"),
    ):
        other = text if extra else text.replace("ambivalent", "modern")
        with pytest.raises(InputError) as caught:
            load_study(write(tmp_path, other + extra))
        assert f"row {line}: " in str(caught.value)
        assert reason in str(caught.value)
    (tmp_path / "asi.csv").write_text("id,zh,en,ja\n" + rows[: rows.index("22")], encoding="utf-8")
    with pytest.raises(InputError, match=r"items 1 to 22, but asi\.csv lacks '22'"):
        load_study(write(tmp_path, text))


def test_neutral_words_of_single_sentences(tmp_path: Path) -> None:
    _, suite = open_study(write(tmp_path, "seed = 0\n"))
    first = suite.probes[0]
    file = tmp_path / "words.csv"
    file.write_text(f"id,neutral\n{first.id},裁缝\n", encoding="utf-8")
    text = 'neutral_words = "words.csv"\nreasons = true\n'
    study, again = open_study(write(tmp_path, text))
    assert study.neutral_words == {first.id: "裁缝"}
    assert study.reasons
    assert again.digest == suite.digest  # the sentences are the same ones
    for words, reason in (
        (f"{first.id},{first.texts[1]}", "is one of the two gender words"),
        (f"{first.id},", "a row has an id"),
        (f"{first.id},人\n{first.id},者", "stands there twice"),
        ("nobody,人", "none of the ids in words.csv"),
    ):
        file.write_text(f"id,neutral\n{words}\n", encoding="utf-8")
        with pytest.raises(InputError, match=reason):
            load_study(write(tmp_path, text))


WRONG = [
    ('name = "a"\nreasons = 1\n', 2, "reasons is 1; give true or false"),
    ('[[inventory]]\nkey = "sexism"\nfile = "a.csv"\n', 2, "unknown key of an inventory"),
    ('name = "a"\nbatch = = 3\n', 2, "not TOML"),
    ('name = "a"\ntitle = "a', 2, "not TOML"),
    ('name = "a"\nname = "b"\n', 2, "not TOML"),
    ('name = "a b"\n', 1, "no name for a study"),
    ("# x\n\nbach = 3\n", 3, "unknown key 'bach'. Did you mean batch"),
    ('[consnt]\nzh = "a"\n', 1, "Did you mean consent"),
    ('trial = "many"\n', 1, "trial is 'many', which is not a whole number"),
    ("trial = true\n", 1, "trial is True"),
    ("trial = -1\n", 1, "trial is -1; give a whole number from 0"),
    ("seed = 1.5\n", 1, "seed is 1.5"),
    ("name = 3\n", 1, "name is 3, which is not a text"),
    ('suite = ""\n', 1, "suite is empty"),
    ("least_accuracy = 80\n", 1, "least_accuracy is 80; it is a share"),
    ("\nleast_consistency = -0.1\n", 2, "it is a share"),
    ("least_accuracy = nan\n", 1, "it is a share"),
    ("accuracy_controls = 0.5\nconsistency_controls = 0.4\n", 2, "more than all questions"),
    ('types = ["type1"]\nconsistency_controls = 0.1\n', 2, "types is type1 only"),
    ('types = ["type3"]\n', 1, "'type3' in types is unknown"),
    ("types = []\n", 1, "types is empty"),
    ('languages = ["zh", "zh"]\n', 1, "'zh' stands twice"),
    ('languages = ["zh", "fr"]\n', 1, "'fr' in languages is unknown"),
    ('languages = "zh"\n', 1, "is not a list"),
    ('[consent]\nzh = "好"\nen = "ok"\n', 1, "consent has no text in 'ja'"),
    ('[consent]\nzh = "好"\nen = """\n\n"""\nja = "は"\n', 3, "consent has no text in 'en'"),
    ('consent = "ok"\n', 1, "write [consent]"),
    ('[title]\nfr = "x"\n', 2, "unknown key 'fr'"),
    ('suite = "nli-coal"\n', 1, "is a suite of the kind pair"),
    ('suite = "contextualized"\n', 1, "Did you mean contextualised"),
    ('suite = "nowhere.jsonl"\n', 1, "there is no such file"),
    ('suite_language = "fr"\n', 1, "has no language 'fr'"),
    ('suite = "cgb"\ndata = "nowhere"\n', 2, "there is no folder"),
    (
        "trial = 0\nbatch = 2000\n",
        2,
        "take 1768 measuring sentences, but the suite has 216; give at most 270",
    ),
    ("batch = 2\n", 1, "too few for 1 accuracy and 2 x 1 consistency"),
    ("batch = 100\nbatches = 4\n", 2, "216 measuring sentences fill only 3 batches"),
    (
        "batch = 100\napart = 95\n",
        2,
        "apart is 95, but batch-1 has 9 pairs in 90 questions; give at most 81",
    ),
    ('store = "mysql://x"\n', 1, "store is 'mysql://x'"),
    ('[inventory]\nname = "a"\n', 1, "write [[inventory]]"),
    ('[[inventory]]\nname = "a"\n', 1, "an inventory needs a file"),
    ('[[inventory]]\nname = "a"\nfile = "no.csv"\n', 3, "there is no file"),
    (INVENTORY + "\n" + INVENTORY, 6, "two inventories are called 'a'"),
    (
        INVENTORY + INVENTORY.replace('"a"', '"b"') + "lo = 1\n",
        7,
        "unknown key 'lo'. Did you mean low",
    ),
    (INVENTORY + "low = 5\nhigh = 5\n", 5, "low must be less"),
    (INVENTORY + "high = 90\n", 4, "at most 11"),
    (INVENTORY + 'reversed = ["9"]\n', 4, "'9' in reversed is unknown; known: 1, 2, 3"),
    (INVENTORY + '[inventory.subscales]\nfirst = ["1", "7"]\n', 5, "'7' in first is unknown"),
    (INVENTORY + '[inventory.subscales]\ntotal = ["1"]\n', 5, "mean of all items"),
]


@pytest.mark.parametrize(("text", "line", "reason"), WRONG, ids=[reason for _, _, reason in WRONG])
def test_a_mistake_names_its_line(tmp_path: Path, text: str, line: int, reason: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        load_study(path)
    assert str(caught.value).startswith(f"{path}, row {line}: ")
    assert reason in str(caught.value)


def probe_line(**other: object) -> str:
    row = {
        "id": "1",
        "kind": "mask",
        "language": "zh",
        "texts": ["[BLANK]来了。", "他", "她"],
        "stratum": "MS",
        "cluster": "x",
        "tags": {},
    }
    return json.dumps({**row, **other}, ensure_ascii=False) + "\n"


@pytest.mark.parametrize(
    ("lines", "extra", "line", "reason"),
    [
        (
            probe_line(kind="choice", texts=["a", "b", "c"]),
            "",
            2,
            "is no suite of sentences with a blank",
        ),
        (
            probe_line(texts=["[BLANK]", "a", "b", "c"]),
            "",
            2,
            "is no suite of sentences with a blank",
        ),
        (probe_line(stratum="OS", tags={"gold": "male"}), "", 2, "has no measuring sentence"),
        (probe_line(), "", 3, "has no objective sentence"),
        (probe_line(language="xx"), "", 2, "sentence 1: unknown language"),
        (probe_line(), 'suite_language = "ja"\n', 4, "are in 'zh'"),
    ],
)
def test_own_sentences_are_checked(
    tmp_path: Path, lines: str, extra: str, line: int, reason: str
) -> None:
    (tmp_path / "own.jsonl").write_text(lines, encoding="utf-8")
    with pytest.raises(InputError, match=rf"row {line}: .*{reason}"):
        load_study(
            write(tmp_path, f'name = "own"\nsuite = "own.jsonl"\naccuracy_controls = 0.1\n{extra}')
        )


def test_own_sentences_bring_their_language(tmp_path: Path) -> None:
    lines = "".join(
        probe_line(id=str(i), language="en", texts=[f"[BLANK] came {i}.", "He", "She"])
        for i in range(9)
    )
    (tmp_path / "own.jsonl").write_text(lines, encoding="utf-8")
    study, suite = open_study(write(tmp_path, 'suite = "own.jsonl"\naccuracy_controls = 0\n'))
    assert (study.suite_language, study.batch, study.trial, len(suite.probes)) == ("en", 10, 10, 9)
    assert study.suite == str(tmp_path / "own.jsonl")


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        load_study(tmp_path / "x.toml")
    (tmp_path / "y.toml").write_bytes(b'name = "a"\ntitle = "\xff"\n')
    with pytest.raises(InputError, match="row 2: byte 0xff is not UTF-8"):
        load_study(tmp_path / "y.toml")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_template_has_the_language_that_was_asked_for(tmp_path: Path, language: str) -> None:
    study, suite = open_study(write(tmp_path, template("LANGUAGE-study", language)))
    assert study.name == "LANGUAGE-study"
    assert (study.languages[0], study.suite_language) == (language, language)
    assert set(study.languages) == set(LANGUAGES)
    assert {p.language for p in suite.probes} == {language}
    with pytest.raises(UnknownNameError, match="unknown language of a study 'fr'"):
        template("x", "fr")


def test_a_template_needs_a_name() -> None:
    with pytest.raises(EvenhandError, match="'a/b' is no name for a study"):
        template("a/b")


def test_keys_are_found_in_their_tables() -> None:
    text = (
        'a = 1\n[t]\nb = """\na = 2\n"""\n"c d" = 3\ne.f = 1\n[[i]]\na = 1\n[i.s]\nx = []\n'
        "[[i]]\na = 4 # [no]\n"
    )
    assert find_lines(text) == {
        ("a",): 1,
        ("t",): 2,
        ("t", "b"): 3,
        ("t", "c d"): 6,
        ("t", "e"): 7,
        ("t", "e", "f"): 7,
        ("i", 0): 8,
        ("i", 0, "a"): 9,
        ("i", 0, "s"): 10,
        ("i", 0, "s", "x"): 11,
        ("i", 1): 12,
        ("i", 1, "a"): 13,
    }
