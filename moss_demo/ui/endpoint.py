"""The named endpoint `/transcribe` for programs: a file in, the growing transcript out."""

from collections.abc import Iterator
from contextlib import closing

import gradio as gr

from moss_demo.domain.prompts import PromptPreset
from moss_demo.engine.pool import Waiting
from moss_demo.errors import MossDemoError
from moss_demo.serving.context import AppContext
from moss_demo.ui import present
from moss_demo.ui.transcription import Wishes, transcribe
from moss_demo.ui.wiring import ON_DEVICE


def build(context: AppContext) -> None:
    """Add the endpoint; its components are not on the page."""

    def serve(
        audio: str,
        checkpoint: str,
        precision: str,
        prompt: str,
        hotwords: str,
        max_new_tokens: str,
    ) -> Iterator[str]:
        """Transcribe and diarize a recording.

        Every value is the transcript so far, one `[start][Sxx]text[end]` line a segment; the last
        one is the result.
        """
        wishes = Wishes(audio, checkpoint, precision, prompt, hotwords, max_new_tokens)
        shown = ""
        try:
            with closing(transcribe(wishes, context)) as snapshots:
                for snapshot in snapshots:
                    if isinstance(snapshot, Waiting):
                        yield shown
                        continue
                    text = present.transcript_lines(snapshot.run)
                    if text != shown or snapshot.run.finished is not None:
                        shown = text
                        yield text
        except MossDemoError as error:
            raise gr.Error(str(error), print_exception=False) from error

    with gr.Row(visible=False):
        inputs = [
            gr.File(label="audio"),
            gr.Textbox(context.default_checkpoint(), label="checkpoint"),
            gr.Textbox("auto", label="precision"),
            gr.Textbox(PromptPreset.DEFAULT.value, label="prompt"),
            gr.Textbox("", label="hotwords"),
            gr.Textbox("", label="max_new_tokens"),
        ]
        transcript = gr.Textbox(label="transcript")
        gr.Button("transcribe").click(
            serve,
            inputs,
            transcript,
            api_name="transcribe",
            **ON_DEVICE,
        )
