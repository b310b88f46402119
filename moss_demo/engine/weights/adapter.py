"""A LoRA adapter in peft's format, merged into the weights once (arXiv 2106.09685).

Only what can be merged exactly is taken: adapters of linear layers, without biases and without
weights of their own. Everything else is refused by name.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, sqrt
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from moss_demo.engine.checkpoints import read_json
from moss_demo.engine.loading import ORIGINAL_TO_NATIVE
from moss_demo.errors import CheckpointError

CONFIG_FILE = "adapter_config.json"
WEIGHTS_FILE = "adapter_model.safetensors"

PLAIN_STARTS = (True, False, None, "gaussian", "eva", "orthogonal")
"""How training may begin without changing the base weights that the adapter is added to."""

VARIANTS = (
    "use_dora",
    "use_qalora",
    "use_bdlora",
    "lora_bias",
    "fan_in_fan_out",
    "modules_to_save",
    "layer_replication",
    "target_parameters",
    "trainable_token_indices",
    "alora_invocation_tokens",
    "arrow_config",
    "monteclora_config",
)
"""Keys that say, by any value, that more than B @ A is to be added."""

_KEY = re.compile(r"(?:base_model\.model\.)?(?P<module>.+)\.lora_(?P<side>[AB])\.weight")


@dataclass(frozen=True, slots=True, eq=False)
class _Change:
    """What is added to one matrix: scale * b @ a.

    Attributes:
        a: (rank, inputs).
        b: (outputs, rank).
        scale: factor of the product.
    """

    a: Tensor
    b: Tensor
    scale: float


@dataclass(frozen=True, slots=True, eq=False)
class Adapter:
    """An adapter as it was read, not yet compared with a model.

    Attributes:
        folder: where it lies.
        changes: what is added, by name of the module.
    """

    folder: Path
    changes: Mapping[str, _Change]


def read_adapter(folder: Path) -> Adapter:
    """Read an adapter's folder.

    Raises:
        CheckpointError: a file is missing or damaged, or it is of a kind that cannot be merged.
    """
    if not folder.is_dir():
        raise CheckpointError(folder, " is no folder; --adapter takes one that peft has saved.")
    config = read_json(folder / CONFIG_FILE)
    _refuse_other_kinds(folder, config)
    pairs = _read_pairs(folder)
    return Adapter(
        folder,
        {
            module: _Change(sides["A"], sides["B"], _scale(folder, config, module, sides["A"]))
            for module, sides in pairs.items()
        },
    )


@torch.no_grad()
def merge_adapter(model: nn.Module, adapter: Adapter) -> None:
    """Add an adapter to a model's weights; all of it is checked before anything is changed.

    Raises:
        CheckpointError: the adapter was made for another model.
    """
    targets = []
    for name, change in adapter.changes.items():
        linear = _find_linear(model, name)
        if linear is None:
            raise CheckpointError(
                adapter.folder,
                f" adapts {name}, which is no linear layer of its own in this checkpoint; use the "
                "checkpoint that it was trained with.",
            )
        shape = (change.b.shape[0], change.a.shape[1])
        if linear.weight.shape != shape:
            raise CheckpointError(
                adapter.folder,
                f" changes {name} by a matrix of {shape[0]} by {shape[1]}, and this checkpoint's "
                f"has {linear.out_features} by {linear.in_features}; use the checkpoint that it "
                "was trained with.",
            )
        targets.append((linear.weight, change))
    for weight, change in targets:
        a, b = (side.to(weight.device, torch.float32) for side in (change.a, change.b))
        weight.copy_(weight.float() + change.scale * (b @ a))


def _find_linear(model: nn.Module, name: str) -> nn.Linear | None:
    """Return the layer of a name in the library's or in the publisher's layout."""
    for pattern, native in ORIGINAL_TO_NATIVE.items():
        name = re.sub(pattern, native, f"{name}.").removesuffix(".")  # patterns end at a dot
    modules = dict(model.named_modules())
    module = modules.get(name)
    is_head = module is modules.get("lm_head")  # a head that shares the embedding's matrix
    return module if isinstance(module, nn.Linear) and not is_head else None


def _refuse_other_kinds(folder: Path, config: Mapping[str, Any]) -> None:
    """Refuse what is no plain LoRA; `adapter_config.json` names every variant of peft."""
    odd = {
        "peft_type": config.get("peft_type") != "LORA",
        "init_lora_weights": config.get("init_lora_weights") not in PLAIN_STARTS,
        "bias": config.get("bias", "none") != "none",
        "rank_pattern": not _has_plain_names(config.get("rank_pattern")),
        "alpha_pattern": not _has_plain_names(config.get("alpha_pattern")),
    } | {key: bool(config.get(key)) for key in VARIANTS}
    for key, is_odd in odd.items():
        if is_odd:
            raise CheckpointError(
                folder,
                f" is no plain LoRA adapter ({key} is {config.get(key)!r}), so it cannot be "
                "merged; merge it with peft and name the merged folder as the model.",
            )


def _has_plain_names(patterns: object) -> bool:
    """Tell whether ranks or alphas are given by names; an expression from a file is never run."""
    if not patterns:
        return True
    return isinstance(patterns, dict) and all(re.fullmatch(r"\^?[\w.]+", key) for key in patterns)


def _read_pairs(folder: Path) -> dict[str, dict[str, Tensor]]:
    path = folder / WEIGHTS_FILE
    if not path.is_file():
        raise CheckpointError(
            f"{WEIGHTS_FILE} is missing in ", folder, "; save the adapter again as safetensors."
        )
    try:
        tensors = load_file(path)
    except (SafetensorError, OSError, ValueError) as error:
        raise CheckpointError(path, " is damaged; copy the adapter again.") from error
    pairs: dict[str, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        found = _KEY.fullmatch(key)
        if found is None or tensor.ndim != 2:
            raise CheckpointError(
                folder,
                f" holds {key}, which is no matrix of a linear layer's LoRA; merge it with peft "
                "and name the merged folder as the model.",
            )
        if not tensor.isfinite().all():
            raise CheckpointError(path, f" holds {key} with values that are not finite.")
        pairs.setdefault(found["module"], {})[found["side"]] = tensor
    for module, sides in pairs.items():
        if set(sides) != {"A", "B"} or sides["A"].shape[0] != sides["B"].shape[1]:
            raise CheckpointError(
                path, f" is damaged: the two halves for {module} do not fit; copy it again."
            )
    if not pairs:
        raise CheckpointError(path, " is empty; there is nothing to merge.")
    return pairs


def _scale(folder: Path, config: Mapping[str, Any], module: str, a: Tensor) -> float:
    """Return alpha / rank, or alpha / sqrt(rank) where training was rank-stabilized (2312.03732).

    Raises:
        CheckpointError: rank or alpha are not those of the weights.
    """
    rank = _for_module(config.get("rank_pattern"), module, config.get("r"))
    alpha = _for_module(config.get("alpha_pattern"), module, config.get("lora_alpha"))
    if rank != a.shape[0] or not isinstance(alpha, int | float) or not isfinite(alpha):
        raise CheckpointError(
            folder / CONFIG_FILE,
            f" does not fit its weights: rank {rank} and alpha {alpha} are given for {module}, "
            f"whose rank is {a.shape[0]}; copy the adapter again.",
        )
    return alpha / (sqrt(rank) if config.get("use_rslora") else rank)


def _for_module(patterns: Mapping[str, Any] | None, module: str, default: Any) -> Any:
    """Return the value whose key is the name of a module or its end, as in peft."""
    for key, value in (patterns or {}).items():
        if f".{module}".endswith(f".{key.removeprefix('^')}"):
            return value
    return default
