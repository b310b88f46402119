"""What an engine is, in figures and names that can be shown and saved."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from moss_demo.engine.checkpoints import Checkpoint
from moss_demo.engine.config import EncoderCompile, EngineConfig
from moss_demo.engine.loading import Loaded
from moss_demo.engine.weights.report import QuantizationReport, summary_dict, weight_bytes
from moss_demo.errors import name_of


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """What the page and the command line say about an engine.

    Attributes:
        checkpoint: name of the checkpoint in use.
        revision: commit of published weights, else "local".
        layout: how its tensors are named.
        parameters: number of weights.
        weight_bytes: memory that they take.
        context_tokens: positions that prompt and transcript share.
        device: torch device.
        precision: number format.
        decode: decode path.
        attention: what computes attention in the decoder.
        load_s: seconds from the first file to weights on the device.
        encoder_compile: how the audio encoder is compiled.
        compile_s: seconds spent compiling it so far.
        compile_problem: why it runs eager all the same, if it does.
        quantization: what a weight format did to the model; None without one.
        adapter: name of the adapter that was merged into the weights; None without one.
    """

    checkpoint: str
    revision: str
    layout: str
    parameters: int
    weight_bytes: int
    context_tokens: int
    device: str
    precision: str
    decode: str
    attention: str
    load_s: float
    encoder_compile: str = EncoderCompile.OFF
    compile_s: float = 0.0
    compile_problem: str | None = None
    quantization: QuantizationReport | None = None
    adapter: str | None = None

    @property
    def encoder(self) -> str:
        """How the encoder really runs."""
        eager = self.encoder_compile == EncoderCompile.OFF or self.compile_problem is not None
        return "eager" if eager else f"compiled ({self.encoder_compile})"

    def record(self) -> dict[str, object]:
        """Return everything as JSON values; of a quantization the summary only."""
        plain = asdict(replace(self, quantization=None))
        report = self.quantization
        return plain | {"quantization": None if report is None else summary_dict(report)}


def describe_engine(
    config: EngineConfig, checkpoint: Checkpoint, loaded: Loaded, attention: str, load_s: float
) -> EngineInfo:
    """Collect what is known of an engine before anything is compiled for it."""
    model = loaded.model
    text_config: Any = model.config.text_config
    return EngineInfo(
        checkpoint=checkpoint.name,
        revision=checkpoint.revision,
        layout=checkpoint.layout,
        parameters=sum(weight.numel() for weight in model.parameters()),
        weight_bytes=weight_bytes(model),
        context_tokens=text_config.max_position_embeddings,
        device=config.device,
        precision=config.precision,
        decode=config.decode,
        attention=attention,
        load_s=load_s,
        encoder_compile=config.encoder_compile,
        quantization=loaded.quantization,
        adapter=None if config.adapter is None else name_of(Path(config.adapter)),
    )
