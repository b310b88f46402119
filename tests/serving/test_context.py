"""What a host offers, and what visitors get of it."""

import shutil
from pathlib import Path

import pytest

from moss_demo.domain.request import Request
from moss_demo.engine.audio_files import read_audio
from moss_demo.engine.checkpoints import PUBLISHED, TINY, TINY_DIR
from moss_demo.engine.config import Precision
from moss_demo.engine.environment import describe, describe_places
from moss_demo.errors import CheckpointError, NotOfferedError, RequestError
from moss_demo.serving.context import SELF_TEST_SAMPLE, build_context
from moss_demo.serving.metrics import Door
from moss_demo.settings import Settings


def test_without_a_list_everything_that_is_here_is_offered() -> None:
    """No download is ever started by choosing."""
    context = build_context(Settings(), "cpu")
    assert context.checkpoint_choices() == [TINY]
    assert context.default_checkpoint() == TINY
    assert context.precision_choices() == [*Precision]
    with pytest.raises(NotOfferedError, match="does not offer that checkpoint; choose tiny"):
        context.engine_config(PUBLISHED.repo, "auto")


def test_a_path_is_never_a_checkpoint_for_visitors(tmp_path: Path) -> None:
    """Visitors choose among what the host offers; a folder of the server is no offer."""
    context = build_context(Settings(), "cpu")
    for path in (tmp_path, TINY_DIR):
        with pytest.raises(NotOfferedError):
            context.engine_config(str(path), "auto")


def test_a_folder_of_the_host_is_offered_by_its_name(tmp_path: Path) -> None:
    """Where it lies stays the host's own business."""
    folder = tmp_path / "my-model"
    shutil.copytree(TINY_DIR, folder)
    context = build_context(Settings(model=str(folder), models=(TINY,)), "cpu")
    assert context.checkpoint_choices() == ["my-model", TINY]
    assert context.default_checkpoint() == "my-model"
    assert context.engine_config("my-model", "auto").checkpoint == str(folder)


def test_a_list_of_precisions_binds() -> None:
    """Whatever the list says, the device's usual precision works."""
    context = build_context(Settings(precisions=("bf16",)), "cpu")
    assert context.precision_choices() == [Precision.FP32, Precision.BF16]
    assert context.engine_config(TINY, "auto").precision is Precision.FP32
    with pytest.raises(NotOfferedError, match="precision; choose fp32 or bf16"):
        context.engine_config(TINY, "fp16")
    with pytest.raises(RequestError, match="'bf17' is no precision"):
        build_context(Settings(precisions=("bf17",)), "cpu")


@pytest.mark.parametrize("settings", [Settings(model="/nowhere"), Settings(models=("/nowhere",))])
def test_a_host_with_a_missing_checkpoint_is_told_at_the_start(settings: Settings) -> None:
    """A wrong path in the configuration does not wait for the first visitor."""
    with pytest.raises(CheckpointError, match="nowhere is no known checkpoint") as refused:
        build_context(settings, "cpu")
    assert "/nowhere" in refused.value.in_full


def test_visitors_never_learn_where_a_checkpoint_lies(tmp_path: Path) -> None:
    """Not even when its folder has vanished since the start."""
    folder = tmp_path / "my-model"
    shutil.copytree(TINY_DIR, folder)
    context = build_context(Settings(model=str(folder)), "cpu")
    shutil.rmtree(folder)
    config = context.engine_config("my-model", "auto")
    clip = read_audio(SELF_TEST_SAMPLE)
    with pytest.raises(CheckpointError, match="my-model is no known checkpoint") as failed:
        list(context.transcribe(config, lambda: Request(clip), clip.duration_s, Door.PAGE))
    assert str(tmp_path) not in str(failed.value)
    assert all(str(tmp_path) not in value for _, value in describe(context.settings))
    assert str(folder) in dict(describe_places(context.settings))["default model"]


def test_two_checkpoints_of_one_name_are_refused(tmp_path: Path) -> None:
    """Visitors would get one of them under the name of the other."""
    folder = tmp_path / TINY
    shutil.copytree(TINY_DIR, folder)
    with pytest.raises(RequestError, match="Two checkpoints of this host are called tiny"):
        build_context(Settings(models=(str(folder), TINY)), "cpu")
    with pytest.raises(RequestError, match="called tiny"):
        build_context(Settings(model=str(folder)), "cpu")


def test_decode_path_and_compilation_are_the_visitors_choice() -> None:
    """What is left out is the usual; the rejected mode is refused with its reason."""
    context = build_context(Settings(), "cpu")
    usual = context.engine_config(TINY, "auto")
    assert (usual.decode, usual.encoder_compile) == ("reference", "off")
    chosen = context.engine_config(TINY, "auto", "fast", "max-autotune-no-cudagraphs")
    assert (chosen.decode, chosen.encoder_compile) == ("fast", "max-autotune-no-cudagraphs")
    assert chosen.shares_weights_with(usual)
    with pytest.raises(RequestError, match="reduce-overhead is rejected"):
        context.engine_config(TINY, "auto", "fast", "reduce-overhead")
    with pytest.raises(RequestError, match="no decode path"):
        context.engine_config(TINY, "auto", "faster")


def test_what_pays_over_many_runs_is_not_offered_on_a_borrowed_gpu() -> None:
    """A Space that borrows its GPU for each run has no use for kernels of the last one."""
    context = build_context(Settings(zero_gpu=True), "cpu")
    assert context.compile_choices() == ("off",)
    with pytest.raises(NotOfferedError, match="compilation of the encoder; choose off"):
        context.engine_config(TINY, "auto", None, "default")
    assert context.decode_choices() == ("reference",)
    with pytest.raises(NotOfferedError, match="decode path; choose reference"):
        context.engine_config(TINY, "auto", "fast")
