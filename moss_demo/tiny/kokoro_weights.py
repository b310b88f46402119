"""Turns the int8 ONNX file of Kokoro-82M into weights for its PyTorch modules.

The registries carry Kokoro only as a dynamically quantized ONNX graph, whose weights are int8 with
a scale a tensor (convolutions, recurrences) or a channel (linear maps). Read back as float32 they
run on a GPU at hundreds of times real time, where the graph itself needs two seconds a second on a
CPU core. Knows the names and layouts of that one export; knows nothing of speech.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from moss_demo.errors import MossDemoError

Arrays = dict[str, NDArray[Any]]

_WEIGHT_NODES = ("ConvInteger", "Conv", "ConvTranspose", "MatMulInteger", "MatMul", "Gather")
_OPERATOR = re.compile(r"/(Gemm_MatMul|MatMul|ConvTranspose|Conv|LSTM|Gather)(_quant)?$")
_REPEATED = re.compile(r"_\d+/[^/]*$")
"""ALBERT runs one layer twelve times; the later runs carry a number and the same weights."""

_ONNX_TO_TORCH_GATES = (0, 2, 3, 1)
"""An LSTM's gates: ONNX has input, output, forget, cell; PyTorch input, forget, cell, output."""


def read_onnx(path: Path) -> dict[str, torch.Tensor]:
    """Return the parameters of the graph by the names of Kokoro's PyTorch modules, float32.

    Args:
        path: the joined ONNX file.

    Raises:
        MossDemoError: the package `onnx` is not installed; it is only needed here.
    """
    try:
        import onnx
    except ModuleNotFoundError as error:
        raise MossDemoError(
            "Kokoro's weights are read by the package onnx: pip install onnx."
        ) from error

    graph = onnx.load(str(path)).graph
    arrays = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    state: dict[str, torch.Tensor] = {}
    for node in graph.node:
        for name, value in _of_node(node, arrays):
            state.setdefault(name, torch.from_numpy(np.ascontiguousarray(value, np.float32)))
    for name, value in arrays.items():
        stored_plainly = value.dtype == np.float32 and not name.endswith("_scale")
        if stored_plainly and name.startswith(("encoder.", "decoder.")):
            state.setdefault(_drop_root(name), torch.from_numpy(value.copy()))
    return state


def _of_node(node: Any, arrays: Arrays) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the parameters that one node multiplies with, under their module's path."""
    if not _OPERATOR.search(node.name) or _REPEATED.search(node.name):
        return
    path = _module_path(_OPERATOR.sub("", node.name))
    if node.op_type == "DynamicQuantizeLSTM":
        yield from _of_lstm(path, node, arrays)
    elif node.op_type in _WEIGHT_NODES:
        place = 0 if node.op_type == "Gather" else 1
        name = node.input[place]
        if name in arrays and arrays[name].ndim > 1:
            zero = node.input[3] if node.op_type.endswith("Integer") else ""
            weight = _dequantized(name, arrays, zero)
            yield f"{path}.weight", weight.T if "MatMul" in node.op_type else weight


def _of_lstm(path: str, node: Any, arrays: Arrays) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield a bidirectional LSTM; its quantized matrices come as (2, inputs, 4 x hidden)."""
    bias = arrays[node.input[3]]
    for name, at, scale_at in (("weight_ih", 1, 8), ("weight_hh", 2, 10)):
        quantized = arrays[node.input[at]].astype(np.float32)
        zero = arrays[node.input[scale_at + 1]].astype(np.float32)
        scale = arrays[node.input[scale_at]]
        for way, suffix in enumerate(("", "_reverse")):
            matrix = (quantized[way] - zero.reshape(2, -1)[way]) * scale.reshape(2, -1)[way]
            yield f"{path}.{name}_l0{suffix}", _torch_gates(matrix.T)
    for way, suffix in enumerate(("", "_reverse")):
        halves = np.split(bias[way], 2)
        yield f"{path}.bias_ih_l0{suffix}", _torch_gates(halves[0])
        yield f"{path}.bias_hh_l0{suffix}", _torch_gates(halves[1])


def _torch_gates(rows: NDArray[Any]) -> NDArray[Any]:
    parts = np.split(rows, 4)
    return np.concatenate([parts[gate] for gate in _ONNX_TO_TORCH_GATES])


def _dequantized(name: str, arrays: Arrays, zero_name: str) -> NDArray[Any]:
    value = arrays[name]
    if not name.endswith("_quantized"):
        return value
    scale = arrays[name.removesuffix("_quantized") + "_scale"]
    named_zero = zero_name or name.removesuffix("_quantized") + "_zero_point"
    zero = arrays.get(named_zero, np.zeros((), value.dtype)).astype(np.float32)
    return (value.astype(np.float32) - zero) * scale


def _module_path(name: str) -> str:
    """Turn a node's scope into a module path: `/encoder/F0.0/conv1` is `predictor.F0.0.conv1`."""
    parts: list[str] = []
    for part in name.strip("/").split("/"):
        if parts and part.startswith(parts[-1] + "."):
            parts.pop()
        parts.append(part)
    return _drop_root(".".join(parts))


def _drop_root(path: str) -> str:
    inner = path.split(".", 1)[1] if path.startswith(("encoder.", "decoder.")) else path
    return f"predictor.{inner}" if re.match(r"(F0|N|shared)(\.|_proj|$)", inner) else inner
