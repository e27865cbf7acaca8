"""The table of accelerators: its invariants, the names that find a row, and rows of the user's own."""

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricing.accelerators import (
    ACCELERATORS_FILE,
    COLUMNS,
    Accelerator,
    accelerator,
    accelerators,
    add_accelerators,
)
from pricing.errors import TableFileError, UnknownAcceleratorError
from pricing.offers import offers

TABLE = accelerators()

# How published measurements, drivers and price lists spell them.
SPELLINGS = {
    "3070 8GB": "rtx-3070",
    "3080 10GB": "rtx-3080",
    "3080 12GB": "rtx-3080-12",
    "3080 Ti 12GB": "rtx-3080-ti",
    "3090 24GB": "rtx-3090",
    "4070 Ti 12GB": "rtx-4070-ti",
    "4080 16GB": "rtx-4080",
    "4090 24GB": "rtx-4090",
    "A100": "a100-80-sxm",
    "A100 PCIe 80GB": "a100-80-pcie",
    "A100 SXM 80GB": "a100-80-sxm",
    "A40 48GB": "a40",
    "B200": "b200",
    "GB10 (DGX Spark)": "gb10",
    "GB200": "gb200",
    "H100": "h100-sxm",
    "H100 PCIe 80GB": "h100-pcie",
    "H200": "h200-sxm",
    "L40S 48GB": "l40s",
    "M1 7\u2011Core GPU 8GB": "m1",
    "M1 Max 32\u2011Core GPU 64GB": "m1-max",
    "M2 Ultra 76-Core GPU 192GB": "m2-ultra",
    "M3 Max 40\u2011Core GPU 64GB": "m3-max",
    "RTX 4000 Ada 20GB": "rtx-4000-ada",
    "RTX 5000 Ada 32GB": "rtx-5000-ada",
    "RTX 6000 Ada 48GB": "rtx-6000-ada",
    "RTX A6000 48GB": "a6000",
    "8x H100": "h100-sxm",
    "4x4090": "rtx-4090",
    "2 x RX 9070 XT": "rx-9070-xt",
    "7900 XTX": "rx-7900-xtx",
    "H100x8": "h100-sxm",
    "8 \N{MULTIPLICATION SIGN} H100 SXM5": "h100-sxm",
    "A100 40GB": "a100-40-sxm",
    "AMD Instinct MI300X 192GB HBM3": "mi300x",
    "AMD Instinct MI325X 256GB HBM3e": "mi325x",
    "AMD Instinct MI355X 288GB HBM3e": "mi355x",
    "AMD MI300X-NPS1-SPX-192GB-750W": "mi300x",
    "B300": "b300",
    "B300 288GB": "b300",
    "DGX Spark": "gb10",
    "GB300 NVL72": "gb300",
    "H20 141GB": "h20-141",
    "Intel\N{REGISTERED SIGN} Arc\N{TRADE MARK SIGN} Pro B60 Graphics": "arc-pro-b60",
    "L40S": "l40s",
    "MI300": "mi300x",
    "NVIDIA A100-PCIE-40GB": "a100-40-pcie",
    "NVIDIA A100-SXM4-80GB": "a100-80-sxm",
    "NVIDIA B200-SXM-180GB": "b200",
    "NVIDIA GH200-GraceHopper-Superchip": "gh200-96",
    "NVIDIA GH200 Grace Hopper Superchip 144GB": "gh200-144",
    "NVIDIA H100 80GB HBM3": "h100-sxm",
    "NVIDIA H100 NVL": "h100-nvl",
    "H100 94GB": "h100-nvl",
    "NVIDIA RTX 6000 Ada Generation": "rtx-6000-ada",
    "NVIDIA RTX PRO 6000 Blackwell Server Edition": "rtx-pro-6000-server",
    "RTX 6000 Pro Blackwell": "rtx-pro-6000-server",
    "RTX PRO 6000": "rtx-pro-6000-server",
    "RTX PRO 6000 Blackwell Workstation Edition": "rtx-pro-6000-ws",
    "RTX4090": "rtx-4090",
    "RTX6000Ada": "rtx-6000-ada",
    "Tesla T4": "t4",
    "b200_sxm": "b200",
    "h200_sxm": "h200-sxm",
    "tpu-v6e": "tpu-v6e",
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_spellings_find_their_row(name: str) -> None:
    assert accelerator(name).id == SPELLINGS[name]


@pytest.mark.parametrize("row", TABLE.values(), ids=lambda row: row.id)
def test_every_row_finds_itself(row: Accelerator) -> None:
    assert accelerator(row.id) is row
    assert accelerator(row.id.upper()) is row
    found = accelerator(row.name)
    assert found.memory_bandwidth_gb_s == row.memory_bandwidth_gb_s or found.name.startswith(
        row.name.split(" (")[0]
    )


@pytest.mark.parametrize("row", TABLE.values(), ids=lambda row: row.id)
def test_rows_are_plausible_and_sourced(row: Accelerator) -> None:
    assert row.source
    assert row.verified in {"yes", "part", "memory"}
    assert "memory" in row.source or row.verified != "memory"
    # GB and GB/s, not GiB, TB or bytes: from a laptop's to a rack's.
    assert 8 <= row.memory_gb <= 512
    assert 68 <= row.memory_bandwidth_gb_s <= 9_000
    assert row.bf16_dense_tflops is None or 2 <= row.bf16_dense_tflops <= 3_000
    same = {other.vendor for other in TABLE.values() if other.vendor.casefold() == row.vendor.casefold()}
    assert row.vendor
    assert same == {row.vendor}, "one spelling of a vendor"


# FP8 at the BF16 rate, or at a rate of its own, says the maker.
OTHER_FP8 = {"tpu-v5p", "tpu-v6e", "gaudi3", "tpu8i", "trainium1", "inferentia2", "trainium3", "trainium2"}


@pytest.mark.parametrize("row", TABLE.values(), ids=lambda row: row.id)
def test_rates_are_dense_and_double_with_half_the_bits(row: Accelerator) -> None:
    bf16, fp8, fp4 = row.bf16_dense_tflops, row.fp8_dense_tflops, row.fp4_dense_tflops
    if bf16 and fp8 and row.id not in OTHER_FP8:
        assert fp8 == pytest.approx(2 * bf16, rel=0.015)
    if (
        fp8 and fp4 and row.id not in {"b300", "gb300", "trainium3"}
    ):  # Ultra parts: 3 x; Trainium3 runs FP4 as FP8
        geforce = row.name.startswith("GeForce")  # FP8 is halved by FP32 accumulation there, FP4 is not
        assert fp4 == pytest.approx((4 if geforce else 2) * fp8, rel=0.01)


def test_the_usual_version_is_taken_when_the_name_gives_no_memory() -> None:
    assert accelerator("A100 PCIe").memory_gb == 80
    assert accelerator("GH200").memory_gb == 96


def test_a_part_sold_in_sizes_comes_as_the_name_says() -> None:
    full, cut = accelerator("M2 Ultra 76-core"), accelerator("M2 Ultra 60-Core GPU 64GB")
    assert (full.memory_gb, cut.memory_gb) == (192, 64)
    assert full.bf16_dense_tflops is not None
    assert cut.bf16_dense_tflops == pytest.approx(full.bf16_dense_tflops * 60 / 76)
    assert cut.memory_bandwidth_gb_s == full.memory_bandwidth_gb_s
    assert accelerator("M3 Max 30-core GPU 36GB").memory_bandwidth_gb_s == 300
    assert accelerator("M4 Max 32-core").memory_bandwidth_gb_s == 410


@pytest.mark.parametrize(
    ("name", "near"),
    [("H300", "h200-sxm"), ("MI350Z", "mi350x"), ("RTX 4090 Laptop", "rtx-4090"), ("whatever", "")],
)
def test_an_unknown_name_gets_the_nearest_ones_and_what_to_do(name: str, near: str) -> None:
    with pytest.raises(UnknownAcceleratorError) as caught:
        accelerator(name)
    assert repr(name) in str(caught.value)
    assert near in str(caught.value).split("Nearest: ")[1]
    assert "CSV or TOML" in str(caught.value)


def test_a_memory_size_that_no_version_has_is_refused() -> None:
    with pytest.raises(UnknownAcceleratorError, match=r"48 GB of memory; known: rtx-4090 \(24 GB\)"):
        accelerator("RTX 4090 48GB")


@pytest.mark.parametrize("suffix", ["csv", "toml"])
def test_rows_of_the_users_own(tmp_path: Path, suffix: str) -> None:
    cells = {
        "id": "acme-1", "vendor": "Acme", "name": "Acme One", "form": "PCIe", "memory_gb": "64",
        "memory_bandwidth_gb_s": "2000", "bf16_dense_tflops": "400", "source": "data sheet", "verified": "yes",
    }  # fmt: skip
    path = tmp_path / f"mine.{suffix}"
    if suffix == "csv":
        path.write_text(",".join(cells) + "\n" + ",".join(cells.values()) + "\n")
    else:
        path.write_text("[[accelerator]]\n" + "".join(f'{key} = "{value}"\n' for key, value in cells.items()))
    table = add_accelerators(path)
    found = accelerator("8x ACME One 64GB", table)
    assert (found.id, found.fp8_dense_tflops, found.interconnect_gb_s) == ("acme-1", None, None)
    assert accelerator("H100", table) is TABLE["h100-sxm"]
    assert len(table) == len(TABLE) + 1
    assert "acme-1" not in TABLE


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,vendor\nx,Acme\n", r"mine\.csv:2: name is empty"),
        ("id,speed\nx,1\n", r"mine\.csv:2: unknown column 'speed'; allowed are id, vendor"),
        (
            "id,vendor,name,form,memory_gb,source,verified\nx,A,X,PCIe,lots,s,yes\n",
            r"mine\.csv:2: memory_gb is 'lots'; a number of 0 or more",
        ),
        ("id,vendor\nx,Acme,more\n", r"mine\.csv:2: more cells than the header"),
    ],
)
def test_a_malformed_file_says_where(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(text)
    with pytest.raises(TableFileError, match=message):
        add_accelerators(path)


def test_the_file_has_the_columns_of_the_class_and_no_spelling_twice() -> None:
    with ACCELERATORS_FILE.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert set(rows[0]) == set(COLUMNS)
    assert len({row["id"] for row in rows}) == len(rows) >= 66


def test_every_alias_finds_the_first_row_that_has_it() -> None:
    first: dict[str, str] = {}
    for row in TABLE.values():
        for alias in row.aliases:
            first.setdefault(alias, row.id)
    for alias, row_id in first.items():
        assert accelerator(alias).id == row_id, alias


@given(st.text(max_size=40))
def test_any_text_is_a_row_or_an_unknown_name(text: str) -> None:
    try:
        found = accelerator(text).id in TABLE
    except UnknownAcceleratorError as error:
        found = "Nearest: " in str(error) or "known: " in str(error)
    assert found


def test_every_offer_is_for_a_row() -> None:
    assert {offer.accelerator_id for offer in offers()} <= set(TABLE)
