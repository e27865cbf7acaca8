"""Colours stay apart for the common kinds of colour blindness, and text stays readable, in both schemes."""

import math
import re
from itertools import combinations, pairwise

import pytest

from advisor.render.html import template_dir

CSS = (template_dir() / "report.css").read_text(encoding="utf-8")
LIGHT = dict(re.findall(r"--([\w-]+):(#[0-9a-f]{3,6})", CSS.split("prefers-color-scheme:dark", 1)[0]))
DARK = dict(
    re.findall(r"--([\w-]+):(#[0-9a-f]{3,6})", CSS.split("prefers-color-scheme:dark", 1)[1].split("}}", 1)[0])
)
SCHEMES = {"light": LIGHT, "dark": DARK}
# Machado, Oliveira and Fernandes 2009, severity 1.0.
SIGHT = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.01182, 0.04294, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.3039),
    ),
}


def linear(colour: str) -> tuple[float, ...]:
    digits = colour[1:] if len(colour) == 7 else "".join(c * 2 for c in colour[1:])
    channels = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    return tuple(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)


def lab(rgb: tuple[float, ...]) -> tuple[float, float, float]:
    r, g, b = (min(max(c, 0.0), 1.0) for c in rgb)
    long = (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b) ** (1 / 3)
    medium = (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b) ** (1 / 3)
    short = (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short,
    )


def apart(one: str, two: str, sight: str) -> float:
    seen = [
        tuple(sum(w * c for w, c in zip(row, linear(x), strict=True)) for row in SIGHT[sight])
        for x in (one, two)
    ]
    return math.dist(lab(seen[0]), lab(seen[1]))


def contrast(one: str, two: str) -> float:
    dark, light = sorted(
        sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(x), strict=True)) for x in (one, two)
    )
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("sight", SIGHT)
def test_phases_and_series_are_told_apart(scheme: str, sight: str) -> None:
    colours = SCHEMES[scheme]
    assert apart(colours["prefill"], colours["decode"], sight) > 0.15
    stack = [colours[name] for name in ("s0", "s1", "s2", "s3", "s4", "s5", "other")]
    for lower, upper in pairwise(stack):
        assert apart(lower, upper, sight) > 0.08, (lower, upper)
    for one, two in combinations(stack, 2):
        assert apart(one, two, sight) > 0.025, (one, two)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("ink", "ground"),
    [
        ("ink", "paper"),
        ("text", "paper"),
        ("quiet", "paper"),
        ("quiet", "soft"),
        ("good", "good-bg"),
        ("warn", "warn-bg"),
        ("warn", "paper"),
        ("prefill-ink", "paper"),
    ],
)
def test_text_is_readable(scheme: str, ink: str, ground: str) -> None:
    assert contrast(SCHEMES[scheme][ink], SCHEMES[scheme][ground]) >= 4.5
