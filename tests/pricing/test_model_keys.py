"""Layers with a constant state, under all names that configurations give their sizes; figures worked out by hand."""

from typing import Any

import pytest

from pricing.model_keys import linear_parameters, linear_state_values

HIDDEN = 2_048
DELTA_NET = {
    "linear_num_key_heads": 16,
    "linear_key_head_dim": 128,
    "linear_num_value_heads": 32,
    "linear_value_head_dim": 64,
    "linear_conv_kernel_dim": 4,
}
KIMI = {"linear_attn_config": {"num_heads": 8, "head_dim": 64}, "conv_kernel": 3}
MAMBA = {"mamba_num_heads": 80, "mamba_head_dim": 64, "n_groups": 8, "ssm_state_size": 128}
MAMBA_BY_OTHER_NAMES = {"mamba_n_heads": 80, "mamba_d_head": 64, "mamba_n_groups": 8, "mamba_d_state": 128}


@pytest.mark.parametrize(
    ("config", "parameters"),
    [
        # Queries and keys of 16 x 128, values and gates of 32 x 64, two numbers a value head; values go back to the hidden size.
        (DELTA_NET, HIDDEN * (2 * 2_048 + 2 * 2_048 + 2 * 32) + 2_048 * HIDDEN),
        # Queries, keys, values and output of 512; two pairs of low rank by way of one head; one number a head.
        (KIMI, 4 * HIDDEN * 512 + 2 * 64 * (HIDDEN + 512) + HIDDEN * 8),
        # Values and gate of 80 x 64, two groups' states of 8 x 128, one step a head; back to the hidden size.
        (MAMBA, HIDDEN * (2 * 5_120 + 2 * 8 * 128 + 80) + 5_120 * HIDDEN),
        (MAMBA_BY_OTHER_NAMES, HIDDEN * (2 * 5_120 + 2 * 8 * 128 + 80) + 5_120 * HIDDEN),
        ({"mamba_num_heads": 0}, 0),
        ({}, 0),
    ],
)
def test_parameters_of_a_layer(config: dict[str, Any], parameters: int) -> None:
    assert linear_parameters(config, HIDDEN) == parameters


@pytest.mark.parametrize(
    ("config", "values"),
    [
        (DELTA_NET, 32 * 128 * 64 + 3 * (2 * 2_048 + 2_048)),
        (KIMI, 8 * 64 * 64 + 2 * 3 * 512),
        (MAMBA, 80 * 64 * 128 + 3 * (5_120 + 2 * 8 * 128)),
        (MAMBA_BY_OTHER_NAMES, 80 * 64 * 128 + 3 * (5_120 + 2 * 8 * 128)),
        ({"linear_attn_config": {}}, 0),
        ({}, None),
    ],
)
def test_values_of_a_state(config: dict[str, Any], values: int | None) -> None:
    assert linear_state_values(config) == values
