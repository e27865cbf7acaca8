"""The command line, called in process: exit codes, one sentence for every failure, and where output goes."""

import io
import json
import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest

from advisor import cli
from advisor.commands.output import write

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ibis")

PRICES = {
    "unit": "USD per 1,000,000 tokens",
    "models": {"test-4o": {"input": "2.50", "output": "10.00", "cache_read": "1.25"}},
}


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


Advisor = Callable[..., Outcome]


@pytest.fixture
def advisor(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Advisor:
    """Runs the command line in an empty folder; returns exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prices.json").write_text(json.dumps(PRICES))

    def run(*words: str | Path) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["advisor", *map(str, words)])
        capsys.readouterr()
        code = cli._run()  # noqa: SLF001  (main ends the process)
        out, err = capsys.readouterr()
        return Outcome(code, out, err)

    return run


def chat(number: int, prompt: int = 1_000, output: int = 100, model: str = "test-4o") -> str:
    usage = {"prompt_tokens": prompt, "completion_tokens": output}
    body = {
        "id": f"c{number}",
        "object": "chat.completion",
        "created": 1767225600,
        "model": model,
        "usage": usage,
    }
    return json.dumps(body) + "\n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_text("".join(map(chat, range(3))))
    return path


def sentence(outcome: Outcome) -> str:
    """Return the one sentence of a failure; check that there is nothing else."""
    assert outcome.out == ""
    assert "Traceback" not in outcome.err
    lines = [line for line in outcome.err.splitlines() if line and not line.startswith(("Usage:", "Try '"))]
    assert len(lines) == 1
    assert lines[0].startswith("Error: ")
    return lines[0]


# ---- analyze


def test_without_an_output_a_summary_is_shown_and_the_report_written(advisor: Advisor, log: Path) -> None:
    got = advisor("analyze", log, "--prices", "prices.json")
    assert got.code == 0
    assert got.out.rstrip().endswith("Report: advisor-report.html")
    assert Path("advisor-report.html").read_text().lower().startswith("<!doctype html>")
    assert "\x1b" not in got.out


def test_quiet_says_nothing(advisor: Advisor, log: Path) -> None:
    assert advisor("analyze", log, "--prices", "prices.json", "-q") == Outcome(0, "", "")


def test_json_on_stdout_is_all_that_is_there(advisor: Advisor, log: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    got = advisor("analyze", log, "--prices", "prices.json", "--json", "-", "--progress")
    assert got.code == 0
    assert json.loads(got.out)["cost"]["total"] == "0.0105"
    assert sorted(tmp_path.iterdir()) == before
    assert "\x1b" not in got.err


def test_the_document_fits_the_printed_schema(advisor: Advisor, log: Path) -> None:
    schema = json.loads(advisor("schema").out)
    jsonschema.validate(
        json.loads(advisor("analyze", log, "--prices", "prices.json", "--json", "-").out), schema
    )


def test_outputs_to_files(advisor: Advisor, log: Path) -> None:
    got = advisor(
        "analyze", log, "--prices", "prices.json", "-o", "r.html", "--json", "r.json", "--markdown", "r.md"
    )
    assert got == Outcome(0, "", "")
    assert json.loads(Path("r.json").read_text())["data"]["requests"] == 3
    assert Path("r.md").read_text().strip()
    assert Path("r.html").stat().st_size > 1_000


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--group-by", "colour"], "--group-by 'colour' is unknown; allowed are project, "),
        (["--timezone", "Mars/Olympus"], "--timezone 'Mars/Olympus' is unknown"),
        (["--timezone", "../etc/passwd"], "--timezone '../etc/passwd' is unknown"),
        (
            ["--since", "2026-07-01", "--until", "2026-06-30"],
            "--since 2026-07-01 is after --until 2026-06-30",
        ),
        (["--since", "June"], "--since 'June' is no day"),
        (["--until", "2026-06-31"], "--until '2026-06-31' is no day"),
        (["--as-of", "soon"], "--as-of 'soon' is no time"),
        (["--format", "xml"], "--format 'xml' is unknown; allowed are anthropic, "),
        (["--map", "prompt"], "--map 'prompt' is not of the form target=column"),
        (["--map", "colour=x"], "--map target 'colour' is unknown; allowed are "),
        (["--json", "-", "-o", "-"], "only one output can go to stdout"),
        (["--prices", "nowhere.json"], "nowhere.json: cannot be read"),
        (["--nonsense"], "No such option"),
        (
            ["--json", "no/such/folder/r.json"],
            "cannot write no/such/folder/r.json: No such file or directory",
        ),
    ],
)
def test_wrong_usage_is_exit_2_and_a_sentence(
    advisor: Advisor, log: Path, words: list[str], expected: str
) -> None:
    got = advisor("analyze", log, *words)
    assert got.code == 2
    assert expected in sentence(got)


def test_no_path_is_wrong_usage(advisor: Advisor) -> None:
    got = advisor("analyze")
    assert got.code == 2
    assert "Missing argument" in sentence(got)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("missing.jsonl", None, "missing.jsonl: no such file or folder"),
        ("empty.jsonl", b"", "empty.jsonl: the file is empty"),
        ("binary.bin", b"\x00\x01\x02" * 99, "binary.bin: binary data"),
        ("foreign.csv", b"name,price\nx,1\n", "foreign.csv: no token counts among the columns name, price"),
        ("foreign.json", b'{"name": 1}', "foreign.json: no token counts among the keys name"),
        ("words.txt", b"hello\nworld\n", "words.txt: "),
        ("bad.csv", b"prompt_tokens,completion_tokens\nx,y\n", "none is a request with usage"),
    ],
)
def test_nothing_readable_is_exit_3_and_a_sentence(
    advisor: Advisor, name: str, content: bytes | None, expected: str
) -> None:
    if content is not None:
        Path(name).write_bytes(content)
    got = advisor("analyze", name, "--json", "out.json")
    assert got.code == 3
    assert expected in sentence(got)
    assert not Path("out.json").exists()


@pytest.mark.parametrize("extra", ["{broken\n", chat(9, model="nobody-knows-9b")])
def test_strict_fails_when_a_row_is_skipped_or_unpriced(advisor: Advisor, log: Path, extra: str) -> None:
    words = ("analyze", log, "--prices", "prices.json", "--json", "out.json")
    assert advisor(*words, "--strict").code == 0
    with log.open("a") as file:
        file.write(extra)
    assert advisor(*words).code == 0
    got = advisor(*words, "--strict")
    assert got.code == 1
    assert "--strict: " in sentence(got)
    assert Path("out.json").exists()


def test_nothing_priced_is_exit_3_and_the_document_is_written(advisor: Advisor) -> None:
    Path("odd.jsonl").write_text(chat(1, model="nobody-knows-9b"))
    got = advisor("analyze", "odd.jsonl", "--json", "out.json")
    assert got.code == 3
    assert "nothing could be priced: nobody-knows-9b" in sentence(got)
    made = json.loads(Path("out.json").read_text())
    assert (made["cost"]["coverage"], made["cost"]["complete"], made["data"]["requests"]) == (0.0, False, 1)


def test_a_log_without_models_says_what_to_add(advisor: Advisor) -> None:
    Path("t.csv").write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n2026-06-15 00:00:00,10,1\n")
    got = advisor("analyze", "t.csv", "--json", "out.json")
    assert got.code == 3
    assert "Name the model with --model NAME" in sentence(got)


def test_map_names_the_columns_of_an_unknown_table(advisor: Advisor) -> None:
    Path("odd.csv").write_text("when,ptk,gtk,llm\n2026-06-15,1000,100,test-4o\n")
    words = ("analyze", "odd.csv", "--prices", "prices.json", "--json", "-")
    assert advisor(*words).code == 3
    got = advisor(
        *words, "--map", "prompt=ptk", "--map", "OUTPUT=gtk", "--map", "model=llm", "--map", "timestamp=when"
    )
    assert got.code == 0
    made = json.loads(got.out)
    assert made["cost"]["total"] == "0.0035"
    assert made["by_day"][0]["day"] == "2026-06-15"


def test_a_map_to_a_column_that_is_not_there_is_an_error(advisor: Advisor) -> None:
    Path("odd.csv").write_text("when,ptk,gtk,llm\n2026-06-15,1000,100,test-4o\n")
    got = advisor("analyze", "odd.csv", "--map", "prompt=nope", "--json", "-")
    assert got.code in {2, 3}
    assert "something unexpected" not in sentence(got)


# ---- files


def test_a_renderer_that_breaks_leaves_no_file(
    advisor: Advisor, log: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def explode(_: Any) -> str:
        raise RuntimeError("no")

    monkeypatch.setattr("advisor.render.json.render_json", explode)
    before = sorted(tmp_path.iterdir())
    got = advisor("analyze", log, "--prices", "prices.json", "--json", "out.json")
    assert got.code != 0
    assert "Traceback" not in got.err
    assert got.out == ""
    assert sorted(tmp_path.iterdir()) == before


def test_a_write_that_breaks_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "out.json"
    target.write_text("old")

    def explode(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", explode)
    with pytest.raises(click.ClickException, match=r"cannot write .*: No space left on device"):
        write(str(target), "new")
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def test_a_written_file_has_the_usual_rights(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        write(str(tmp_path / "out.txt"), "text")
    finally:
        os.umask(mask)
    assert (tmp_path / "out.txt").stat().st_mode & 0o777 == 0o640


# ---- doctor, formats, prices, explain


def test_doctor_accounts_for_every_row(advisor: Advisor, log: Path) -> None:
    with log.open("a") as file:
        file.write("\n{broken\n" + chat(0))
    got = advisor("doctor", log)
    assert got.code == 0
    assert "5 rows read = 3 records + 1 skipped + 1 duplicates + 0 ignored" in got.out
    assert f"{log}:5: not valid JSON" in got.out


def test_the_line_that_doctor_suggests_works(advisor: Advisor) -> None:
    Path("my file.csv").write_text("when,Prefill Toks,gen toks,llm,price\n2026-06-15,1000,100,test-4o,3.5\n")
    got = advisor("doctor", "my file.csv")
    assert got.code == 3
    assert "columns: when, Prefill Toks, gen toks, llm, price" in got.out
    (line,) = [line for line in got.out.splitlines() if line.strip().startswith("try: advisor analyze")]
    words = shlex.split(line.strip().removeprefix("try: advisor "))
    again = advisor(*words, "--model", "test-4o", "--prices", "prices.json", "--json", "-")
    assert again.code == 0
    tokens = json.loads(again.out)["tokens"]
    assert (tokens["input_uncached"], tokens["output"]) == (1_000, 100)


def test_doctor_of_nothing_is_exit_3(advisor: Advisor) -> None:
    got = advisor("doctor", "nowhere.csv")
    assert got.code == 3
    assert "nowhere.csv: no such file or folder" in sentence(got)


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        (b"model,input_tokens,output_tokens\ntest-4o,1,2\n", 0, "1 rows read"),
        (b"a,b\nx,1\n", 3, "columns: a, b"),
    ],
)
def test_doctor_reads_stdin(
    advisor: Advisor, monkeypatch: pytest.MonkeyPatch, content: bytes, code: int, said: str
) -> None:
    class Stdin:
        buffer = io.BytesIO(content)

    monkeypatch.setattr(sys, "stdin", Stdin)
    got = advisor("doctor", "-")
    assert (got.code, said in got.out, "empty" in got.out) == (code, True, False)


def test_doctor_shows_no_control_characters(advisor: Advisor) -> None:
    Path("odd.csv").write_text("a\x1b[31mb,c\n1,2\n")
    assert "\x1b" not in advisor("doctor", "odd.csv").out


def test_formats_lists_every_importer(advisor: Advisor) -> None:
    from workloads.importers import importers  # noqa: PLC0415

    lines = advisor("formats").out.splitlines()
    assert [line.split()[0] for line in lines] == [importer.name for importer in importers()]


def test_prices_of_a_model(advisor: Advisor) -> None:
    got = advisor("prices", "test-4o", "--prices", "prices.json")
    assert got.code == 0
    rows = [line.split() for line in got.out.splitlines() if line]
    assert ["input_uncached", "2.5", "1M", "tokens", "base"] in [row[:5] for row in rows]


def test_prices_of_no_model_suggests_near_ones(advisor: Advisor) -> None:
    got = advisor("prices", "test-4p", "--prices", "prices.json")
    assert got.code == 3
    assert "test-4o" in sentence(got)


def test_explain_prices_line_by_line(advisor: Advisor) -> None:
    got = advisor("explain", "test-4o", "input_uncached=1,000", "output=200", "--prices", "prices.json")
    assert got.code == 0
    assert "total 0.0045 USD" in got.out


@pytest.mark.parametrize(
    ("usage", "code", "expected"),
    [
        ("colour=3", 2, "'colour=3' is not METER=COUNT; meters are input_uncached"),
        ("output", 2, "'output' is not METER=COUNT"),
        ("output=many", 2, "the count is no number"),
        ("output=1.5", 2, "the count must be a whole number"),
        ("output=-1", 2, "the count must be a whole number, not negative"),
        *(
            pytest.param(
                f"output={word}",
                2,
                "the count",
            )
            for word in ("NaN", "Infinity")
        ),
    ],
)
def test_explain_refuses_what_is_no_count(advisor: Advisor, usage: str, code: int, expected: str) -> None:
    got = advisor("explain", "test-4o", usage, "--prices", "prices.json")
    assert got.code == code
    assert expected in sentence(got)


def test_every_command_and_option_has_help() -> None:
    assert cli.cli.help
    for name, command in cli.cli.commands.items():
        assert command.help, name
        for parameter in command.params:
            if isinstance(parameter, click.Option) and name == "analyze":
                assert parameter.help, f"{name} {parameter.opts}"


# ---- negotiated terms, currencies, gates


def test_the_demo_runs_in_one_command(advisor: Advisor) -> None:
    got = advisor("demo", "--requests", "1000", "--to", "d")
    assert got.code == 0
    assert Path("d/report.html").is_file()


def test_terms_come_from_options_or_from_the_configuration(advisor: Advisor, log: Path) -> None:
    Path("deal.yaml").write_text("- {multiplier: 0.5}\n")
    Path("fx.csv").write_text("month,rate\n2026-01,0.9\n")
    asked = advisor(
        "analyze", log, "--prices", "prices.json", "--discounts", "deal.yaml", "--currency", "eur",
        "--fx", "fx.csv", "--json", "-",
    )  # fmt: skip
    cost = json.loads(asked.out)["cost"]
    # Three calls of 1,000 x 2.50 and 100 x 10.00 USD a million, 0.9 euros a dollar, half of it
    assert (cost["currency"], cost["list_total"], cost["total"]) == ("EUR", "0.00945", "0.004725")
    Path("advisor.toml").write_text(
        'prices = "prices.json"\ndiscounts = "deal.yaml"\ncurrency = "EUR"\nfx = "fx.csv"\nfail-on-unpriced = 5\n'
    )
    assert json.loads(advisor("analyze", log, "--json", "-").out)["cost"] == cost


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            ["--currency", "EUR"],
            "--currency EUR needs --fx FILE: a CSV or JSON file with the rate of each month",
        ),
        (["--currency", "euros"], "--currency 'euros' is no currency code; write three letters, such as EUR"),
        (["--fx", "fx.csv"], "--fx fx.csv is given and --currency is not: name the currency of its rates"),
        (["--currency", "EUR", "--fx", "none.csv"], "none.csv: cannot be read: No such file"),
        (["--discounts", "none.yaml"], "none.yaml: cannot be read: No such file"),
        (["--discounts", "bad.yaml"], "bad.yaml: discounts.0.multipler: unknown key 'multipler', allowed: "),
        (
            ["--fail-on-unpriced", "many"],
            "--fail-on-unpriced 'many' is no percentage; write a number from 0 to 100",
        ),
    ],
)
def test_wrong_terms_are_usage_errors(advisor: Advisor, log: Path, words: list[str], expected: str) -> None:
    Path("bad.yaml").write_text("- {multipler: 0.5}\n")
    got = advisor("analyze", log, "--prices", "prices.json", "--json", "out.json", *words)
    assert got.code == 2
    assert expected in got.err
    assert not Path("out.json").exists()


def test_too_much_without_a_price_is_exit_1_and_the_outputs_are_written(advisor: Advisor, log: Path) -> None:
    with log.open("a") as file:
        file.write("\n" + chat(9, model="nobody-knows-9b"))
    words = ("analyze", log, "--prices", "prices.json", "--json", "out.json", "--fail-on-unpriced")
    assert advisor(*words, "25").code == 0
    got = advisor(*words, "24.9")
    assert got.code == 1
    assert (
        "25 % of requests and 25 % of tokens have no price, allowed is 24.9 %: nobody-knows-9b"
        in sentence(got)
    )
    assert Path("out.json").is_file()
