"""The choice of an engine on every tab: checkpoint and precision, decode path and encoder."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import gradio as gr

from moss_demo.engine.config import REJECTED_MODE, DecodePath, EncoderCompile
from moss_demo.serving.context import AppContext
from moss_demo.ui.present_numbers import PRECISION_HELP, precision_choices

DECODE_LABELS = {DecodePath.REFERENCE: "Reference", DecodePath.FAST: "Fast"}
ENCODER_LABELS = {
    EncoderCompile.OFF: "Eager",
    EncoderCompile.MAX_AUTOTUNE: "Compiled, autotuned",
    EncoderCompile.DEFAULT: "Compiled, default",
}
HELP = (
    *PRECISION_HELP,
    "Fast is this project's own decode loop: the tokens of the reference in fp32, greedy only.",
    "The encoder is a small part of a run: compiling it gains a few percent on a GPU, and is done "
    "once for each batch size before the run.",
    f"Autotuned stands for {EncoderCompile.MAX_AUTOTUNE}: the fastest mode, which compiles for "
    f"minutes the first time; {REJECTED_MODE}.",
)
NOT_HERE = (
    "Neither Fast nor a compiled encoder is offered here: the GPU is borrowed for each run, and "
    "gone before the preparation of either pays."
)


@dataclass(frozen=True, slots=True)
class Ways:
    """What a visitor sets."""

    decode: gr.Dropdown
    encoder: gr.Dropdown


def lay_out_model(
    context: AppContext,
    *,
    others: Sequence[str] = (),
    precision: str = "auto",
    elem_id: str | None = None,
) -> tuple[gr.Dropdown, gr.Dropdown]:
    """Lay out checkpoint and precision in a row.

    Args:
        context: what the host offers.
        others: what stands beside its checkpoints.
        precision: chosen at start where the host offers it.
        elem_id: name of the checkpoint's box in the page.
    """
    offered = context.precision_choices()
    with gr.Row():
        checkpoint = gr.Dropdown(
            [*context.checkpoint_choices(), *others],
            value=context.default_checkpoint(),
            label="Checkpoint",
            min_width=130,
            elem_id=elem_id,
        )
        precision_box = gr.Dropdown(
            precision_choices(offered),
            value=precision if precision in offered else "auto",
            label="Precision",
            min_width=110,
        )
    return checkpoint, precision_box


def lay_out_ways(context: AppContext) -> Ways:
    """Lay out both choices in a row."""
    paths, modes = context.decode_choices(), context.compile_choices()
    with gr.Row():
        decode = gr.Dropdown(
            [(DECODE_LABELS[path], path.value) for path in paths],
            value=context.usual_decode().value,
            label="Decode path",
            min_width=110,
            interactive=len(paths) > 1,
        )
        encoder = gr.Dropdown(
            [(ENCODER_LABELS[mode], mode.value) for mode in modes],
            value=EncoderCompile.OFF.value,
            label="Encoder",
            min_width=150,
            interactive=len(modes) > 1,
        )
    return Ways(decode, encoder)


def explain_ways(context: AppContext) -> None:
    """Lay out what the choices mean, folded away."""
    sentences = HELP if len(context.compile_choices()) > 1 else (*HELP, NOT_HERE)
    paragraphs = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)
    gr.HTML(
        f"<details><summary>What these choices mean</summary>{paragraphs}</details>",
        elem_classes="hint",
        apply_default_css=False,
        padding=False,
    )
