"""Write the generated pages of ``docs/``: ``python tools/make_docs.py [--check]``.

``formats.md`` is made from the importers' module docstrings, ``cli.md`` from the commands' help, ``cache-rules.md`` from the
rows of ``pricing/data/cache``, ``scenarios.md`` from the models of a scenario, ``method.md`` from what computes. With ``--check`` nothing
is written and the exit code is 1 when a page is out of date.
"""

import argparse
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import click

from advisor.cli import cli
from advisor.config import OPTIONS
from advisor.scenario_model import STEPS, schema_json
from pricing.cache_rules import CacheRule, Lifetime, built_in_rules
from workloads.importers import Importer, JsonImporter, TableImporter, importers

DOCS = Path(__file__).resolve().parent.parent / "docs"
HEADINGS = ("Where it comes from", "One row is", "Token fields", "Time zone", "What it cannot tell")
CLI_INTRO = """# Command line

What a command is given stands in its help; keys and shapes of files in the pages of this folder.

## Exit codes

| code | meaning |
|---|---|
| 0 | done |
| 1 | a gate (`check`, `reconcile`, `--fail-on-unpriced`, `prices --diff`) or `--strict` failed |
| 2 | wrong usage, or a file of prices, terms or settings that is malformed |
| 3 | nothing readable, or nothing priced |
| 130 | stopped |

## Streams and files

Results go to stdout or to the files that were named; progress and errors go to stderr, an error as one sentence. For an output,
`-` is stdout, and then nothing else goes there; for a log, `-` is stdin. A file is written whole or not at all.

`advisor.toml` in the current folder, else `[tool.advisor]` in `pyproject.toml`, holds options without their dashes
(`timezone = "Europe/Berlin"`); the command line wins. Keys: {keys}.

## Environment

| variable | meaning |
|---|---|
| `NO_COLOR` | no colour |
| `FORCE_COLOR` | colour although stdout is no terminal |
| `COLUMNS` | width of tables |
| `TMPDIR` | where copies of packed inputs lie while a command runs |

## Completion

Commands, options and files are completed by the shell after one of

```sh
eval "$(_ADVISOR_COMPLETE=bash_source advisor)"      # in ~/.bashrc
eval "$(_ADVISOR_COMPLETE=zsh_source advisor)"       # in ~/.zshrc
_ADVISOR_COMPLETE=fish_source advisor | source       # in ~/.config/fish/completions/advisor.fish
```
"""
SCENARIO_MARK = (
    "<!-- made by tools/make_docs.py: change advisor/scenario_model.py or the tool, not this page -->\n"
)
SCENARIO_INTRO = """# Scenarios

`advisor whatif LOG --scenario FILE` prices a log as it would be: with other models, batch jobs, caches, shorter texts, more
requests, other prices. A scenario is a list of steps in YAML (or JSON, or TOML):

```yaml
name: Next quarter
steps:
  - do: trim
    workload: code-review
    prompt: 0.2
  - do: swap_model
    model: gpt-4o
    to: gpt-4o-mini
    share: 0.5
  - do: batch
    workload: [nightly-summaries, evaluations]
    share: 1
  - do: grow
    factor: 1.5
```

Steps are applied in their order, each to the usage that the ones before have left, and each is priced again: token sums
times decimal rates, so that the changes of the steps add up to the difference. Tokens stay whole numbers; a share of them is
right in sum to the nearest unit. A name that the log does not have is an error that lists those it has. Requests that would
lose their price by a step stay as they are, and the step says how many; what has no price today is in no amount.

`workload`, `model` and `provider` take a name or a list of names, in every step.
"""
SCENARIO_SCHEMA = "\n## Schema\n\nAs `advisor whatif --schema` prints it.\n"
CACHE_MARK = "<!-- made by tools/make_docs.py: change pricing/data/cache or the tool, not this page -->\n"
CACHE_INTRO = """# Cache rules

What the prompt cache of each provider does, as far as it is known. A model that no row names has a cache that nobody
described: then nothing is promised. What writes and reads cost is not here; it comes from the price of the model on the
day, and so do the break-even points (`pricing/cache_math.py`).

- **minimum**: shorter prefixes are not cached. **step**: cached prefixes are whole multiples of it; 1 is exact. With `~` the
  provider does not say, and the cautious figure of others stands in.
- **lifetime**: from the start of the request that wrote the entry; with `↻` a hit starts it anew. `?` is not told, and then
  no replay can promise anything. The default is in bold; where it depends on the customer, the shorter one is.
- **write**: the meter that a write is charged as; `input` costs no more than not caching.
- **equal**: what must be the same for a hit, besides the prefix; with `~` the provider does not say. An entry can be read once its first answer has begun.

Where two texts contradict each other, the larger minimum counts. Rows are dated and appended, never edited, so that a log of
last year is judged by the rules of last year. To add one, append it to a file of `pricing/data/cache` with its `source` and
`checked_on`, end the row before it with `valid_until`, and run `make golden docs`; `pricing/cache_rules.py` says what each key
means.
"""
MARK = "<!-- made by tools/make_docs.py: change the docstrings, not this page -->\n"


def formats_page() -> str:
    """Return the page of log formats: a table, then a section a source."""
    lines = [
        MARK,
        "# Log formats",
        "",
        "What `advisor` reads, and how it counts. Recognised by content; `--format NAME` overrides.",
        "",
    ]
    lines += ["| name | what it is | read from |", "|---|---|---|"]
    lines += [f"| `{item.name}` | {item.title} | {_kind(item)} |" for item in importers()]
    modules: dict[str, ModuleType] = {}
    names: dict[str, list[str]] = {}
    for item in importers():
        module = inspect.getmodule(type(item))
        if module is not None:
            modules[module.__name__] = module
            names.setdefault(module.__name__, []).append(item.name)
    for key in sorted(modules):
        lines += ["", *_section(modules[key], names[key])]
    return "\n".join(lines) + "\n"


def _kind(item: Importer) -> str:
    if isinstance(item, JsonImporter):
        return "JSON, JSONL"
    return "CSV, JSON, JSONL, Parquet" if isinstance(item, TableImporter) else "text"


def _section(module: ModuleType, names: list[str]) -> Iterator[str]:
    title, _, rest = inspect.cleandoc(module.__doc__ or "").partition("\n")
    yield f"## {title.rstrip('.')}"
    yield ""
    yield "`" + "`, `".join(sorted(names)) + "`"
    for paragraph in re.split(r"\n\s*\n", rest.strip()):
        text = " ".join(line.strip() for line in paragraph.splitlines()).replace("``", "`")
        for heading in HEADINGS:
            if text.startswith(heading):
                text = f"**{heading}**{text[len(heading) :]}"
        yield ""
        yield text


def cli_page() -> str:
    """Return the page of commands: the help of each, as it is printed."""
    keys = ", ".join(f"`{key}`" for key in sorted(OPTIONS))
    lines = [MARK, CLI_INTRO.replace("{keys}", keys), "## advisor", "", "```", _help(cli, "advisor"), "```"]
    for name, command in sorted(cli.commands.items()):
        lines += ["", f"## advisor {name}", "", "```", _help(command, f"advisor {name}"), "```"]
        inner = command.commands if isinstance(command, click.Group) else {}
        for word, part in sorted(inner.items()):
            title = f"advisor {name} {word}"
            lines += ["", f"### {title}", "", "```", _help(part, title), "```"]
    return "\n".join(lines) + "\n"


def cache_rules_page() -> str:
    """Return the page of cache rules: a table a provider."""
    lines = [CACHE_MARK, CACHE_INTRO.rstrip()]
    head = "| models | asked for | minimum | step | lifetime | write | equal | source |"
    for provider in sorted({rule.provider for rule in built_in_rules()}):
        lines += ["", f"## {provider}", "", head, "|---|---|---|---|---|---|---|---|"]
        rules = [rule for rule in built_in_rules() if rule.provider == provider]
        lines += map(_cache_row, rules)
        notes = [f"- `{rule.models[0]}`, {rule.placement}: {rule.note}" for rule in rules if rule.note]
        lines += ["", *notes] if notes else []
    return "\n".join(lines) + "\n"


def _cache_row(rule: CacheRule) -> str:
    span = [f"from {rule.valid_from:%Y-%m-%d}"] if rule.valid_from else []
    span += [f"until {rule.valid_until:%Y-%m-%d}"] if rule.valid_until else []
    models = ", ".join(f"`{name}`" for name in rule.models)
    minimum, step = (
        ("~" if name in rule.assumed else "") + f"{getattr(rule, name):,}"
        for name in ("minimum_tokens", "granularity_tokens")
    )
    writes = [
        one.write_meter.removeprefix("cache_write_").removesuffix("_uncached") for one in rule.lifetimes
    ]
    cells = (
        "; ".join([models, *span]),
        {"automatic": "no", "explicit": "yes", "both": "no, can be"}[rule.placement],
        minimum,
        step,
        "<br>".join(map(_lifetime, rule.lifetimes)),
        ", ".join(dict.fromkeys(writes)) + (" + storage" if rule.storage_meter else ""),
        ("~" if "scope" in rule.assumed else "") + ", ".join(rule.scope),
        f"{_linked(rule.source)}, {rule.checked_on}",
    )
    return f"| {' | '.join(cells)} |"


def _lifetime(one: Lifetime) -> str:
    low, high, most = one.shortest_seconds, one.longest_seconds, one.most_seconds
    span = "?" if low is None else f"{low:,} s" if low == high else f"{low:,} to {high:,} s"
    if most and isinstance(one.seconds, tuple):
        span = f"{low:,} to {one.seconds[1]:,} s, at most {most:,} s"
    name = f"**{one.name}**" if one.default else one.name
    since = f" from {one.valid_from:%Y-%m-%d}" if one.valid_from else ""
    return f"{name} {span}{' ↻' if one.refreshes else ''}{since}"


def _linked(source: str) -> str:
    address, _, through = source.partition(" ")
    return f"[page]({address}){' ' if through else ''}{through}"


def scenarios_page() -> str:
    """Return the page of scenarios: a table of keys for each step, and the schema."""
    lines = [SCENARIO_MARK, SCENARIO_INTRO.rstrip()]
    for name, step in STEPS.items():
        lines += ["", f"## {name}", "", inspect.cleandoc(step.__doc__ or ""), ""]
        lines += ["| key | default | meaning |", "|---|---|---|"]
        for key, field in step.model_fields.items():
            if key in ("do", "workload", "model", "provider"):
                continue
            default = (
                "required"
                if field.is_required()
                else "none"
                if field.default is None
                else f"`{field.default}`"
            )
            lines.append(f"| `{key}` | {default} | {field.description} |")
    return "\n".join([*lines, SCENARIO_SCHEMA, "```json", schema_json().rstrip(), "```"]) + "\n"


def _help(command: click.Command, name: str) -> str:
    # As the program sets them: a command keeps the names that it was first asked for.
    names = cli.context_settings["help_option_names"]
    context = click.Context(
        command, info_name=name, terminal_width=100, max_content_width=100, help_option_names=names
    )
    return command.get_help(context)


def main() -> int:
    """Write or check the pages; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="only say whether a page is out of date")
    check = parser.parse_args().check
    from method_page import method_page  # noqa: PLC0415  (beside this file, where only the program finds it)

    stale = []
    pages = {
        "formats.md": formats_page,
        "cli.md": cli_page,
        "cache-rules.md": cache_rules_page,
        "scenarios.md": scenarios_page,
        "method.md": method_page,
    }
    for name, made in pages.items():
        text = made()
        path = DOCS / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if not check:
                path.write_text(text, encoding="utf-8")
    if stale:
        print(("out of date: " if check else "written: ") + ", ".join(stale))
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
