"""Names from a log that would be code elsewhere: in every output they are text; and files from strangers stay small."""

import csv
import io
import json
import re
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from advisor.analysis import Analysis
from advisor.cli import cli
from advisor.commands.outputs import render, summary
from advisor.commands.say import harmless
from advisor.options import AnalyseOptions
from advisor.run import analyse
from pricing.errors import PriceFileError
from pricing.user_cards import parse_price_file, read_price_file

HOSTILE = (
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</script><b>", "javascript:alert(1)", "{{7*7}}", "{% raw %}", "${7*7}",
    "=1+1", "+1+1", "-1+1", "@SUM(A1)", "=cmd|' /C calc'!A0", "[click](http://evil.example)", "![x](http://evil.example/x.png)",
    "`code`", "| a | b |", "# head", "@everyone", "\x1b[31mred\x1b[0m", "\x1b]8;;http://evil.example\x07link\x1b]8;;\x07", "\x07\x08\x7f", "\u202egpj.exe",
    "'; drop table ledger_raw; --", '"quoted"', "a\nb", "%s%n%x", "../../etc/passwd",
)  # fmt: skip
CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202e]")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ibis")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    folder = tmp_path_factory.mktemp("hostile")
    names = [
        "timestamp",
        "provider",
        "model",
        "application",
        "team",
        "project",
        "service_tier",
        "region",
        "stop_reason",
        "session_id",
    ]
    with (folder / "log.csv").open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow([*names, "prompt_tokens", "completion_tokens"])
        for number, name in enumerate(HOSTILE):
            out.writerow([f"2026-06-{number % 28 + 1:02}T10:00:00Z", *[name] * (len(names) - 1), 1000, 100])
    cards = {"models": {name: {"input": "1", "output": "2"} for name in HOSTILE}}
    (folder / "cards.json").write_text(json.dumps(cards), "utf-8")
    options = AnalyseOptions(
        as_of=datetime(2026, 11, 29, tzinfo=UTC), price_files=(folder / "cards.json",), cost_lines=True
    )
    return analyse([str(folder / "log.csv")], options)


def test_nothing_is_lost_by_its_name(hostile: Analysis) -> None:
    assert hostile.data.records == len(HOSTILE)


def test_the_terminal_gets_no_sequence_of_the_log(hostile: Analysis) -> None:
    assert not CONTROLS.search(summary(hostile, no_color=True))


def test_the_page_has_no_tag_and_no_address_of_the_log(hostile: Analysis) -> None:
    page = str(render("html", hostile))
    for tag in ("<script>alert", "<img src=x", "</script><b>"):
        assert tag not in page
    assert not re.search(r"""(?:href|src)=["']?\s*(?:javascript:|http://evil)""", page)
    assert not CONTROLS.search(page)


def test_the_comment_has_no_markup_of_the_log(hostile: Analysis) -> None:
    text = str(render("markdown", hostile))
    for mark in ("<script", "<img", "](http", "`code`", "@everyone"):
        assert mark not in text
    assert not CONTROLS.search(text)


def test_the_document_is_json_whatever_is_in_it(hostile: Analysis) -> None:
    document = json.loads(str(render("json", hostile)))
    assert {item["model"] for item in document["by_model"]} <= {name.strip() for name in HOSTILE} | set(
        HOSTILE
    )


def test_the_export_holds_no_formula(hostile: Analysis) -> None:
    rows = list(csv.reader(io.StringIO(str(render("focus", hostile, quiet=True)))))
    cells = [cell for row in rows[1:] for cell in row]
    assert any("1+1" in cell for cell in cells)
    assert [cell for cell in cells if re.match(r"[=+@\t\r]|-(?!\d)", cell)] == []


def test_the_workbook_holds_no_formula_and_no_link_of_the_log(hostile: Analysis) -> None:
    made = render("xlsx", hostile)
    assert isinstance(made, bytes)
    with zipfile.ZipFile(io.BytesIO(made)) as book:
        sheets = {name: book.read(name).decode("utf-8") for name in book.namelist() if name.endswith(".xml")}
        links = [
            name for name in book.namelist() if name.endswith(".rels") and b"evil.example" in book.read(name)
        ]
    formulas = [formula for text in sheets.values() for formula in re.findall(r"<f>(.*?)</f>", text)]
    assert formulas
    assert not [
        formula for formula in formulas if "cmd|" in formula or formula in ("1+1", "+1+1", "-1+1", "SUM(A1)")
    ]
    assert links == []


# ---- messages


@pytest.mark.parametrize(
    "arguments",
    [
        ["analyze", "no\x1b[31msuch.jsonl"],
        ["analyze", "log.csv", "--map", "prompt=\x1b[31m"],
        ["doctor", "log.csv"],
        ["doctor", "no\x1b]0;x\x07such"],
        ["analyze", "log.csv", "--prices", "cards.json"],
    ],
)
def test_messages_are_free_of_what_a_terminal_acts_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    import sys  # noqa: PLC0415

    from advisor import cli as module  # noqa: PLC0415

    (tmp_path / "log.csv").write_text("a\x1b[31m,b\x07\n1,x\n", "utf-8")
    (tmp_path / "cards.json").write_text('{"models": {"m\\u001b[31m": {"input": 1}}}', "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["advisor", *arguments])
    assert module._run() > 0  # noqa: SLF001
    said = "".join(capfd.readouterr())
    assert said.strip()
    assert not CONTROLS.search(said)


def test_what_cannot_be_seen_is_written_out() -> None:
    assert harmless("a\x1b[31m\nb\u202e") == "a\\x1b[31m\nb\\u202e"
    assert CliRunner().invoke(cli, ["--help"]).exit_code == 0


# ---- files from strangers


def aliases(levels: int) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join([*lines, f"models: *a{levels - 1}"])


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("x.yaml", aliases(10), "stand for more than 1,000,000 values"),
        ("x.yaml", "models: &a {m: *a}", "stands inside what it names"),
        ("x.yaml", "models:\n  ? {a: b}\n  : {input: 1}", "is no key"),
        ("x.yaml", "models: !!python/object/apply:os.system ['id']", "could not determine a constructor"),
        ("x.yaml", "models: " + "[" * 3000 + "]" * 3000, "recursion"),
        ("x.json", '{"models": ' + "[" * 100_000 + "]" * 100_000 + "}", "recursion"),
        ("x.toml", "models = " + "[" * 3000 + "]" * 3000, "recursion"),
        ("x.json", '{"models": {"m": {"input": 1' + "0" * 5000 + ', "output": 1}}}', "4300 digits"),
        (
            "x.json",
            '{"models": {"m": {"input": 1e999999999999, "output": NaN}}}',
            "expected a number from 0 to 1e12",
        ),
        ("x.yaml", "models: {m: {input: 1, output: 2026-02-30}}", "not valid YAML"),
        ("x.json", "\0", "not valid JSON"),
    ],
)
def test_price_files_from_strangers_are_refused_by_name(name: str, text: str, said: str) -> None:
    with pytest.raises(PriceFileError, match=re.escape(said)):
        parse_price_file(text.encode(), Path(name))


def test_anchors_that_are_meant_are_read() -> None:
    text = "models:\n  a: &a {input: '1', output: '2'}\n  b: *a\n  c: {<<: *a, output: '3'}\n"
    assert [card.model for card in parse_price_file(text.encode(), Path("x.yaml"))] == ["a", "b", "c"]


def test_a_device_is_no_price_file_without_an_end(tmp_path: Path) -> None:
    (tmp_path / "x.json").symlink_to("/dev/zero")
    with pytest.raises(PriceFileError, match="too many bytes"):
        read_price_file(tmp_path / "x.json")
