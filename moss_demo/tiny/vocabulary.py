"""The embedded checkpoint's tokenizer, chat template and processor.

A byte-level BPE of 1,280 pieces: ten digits that never merge (a stamp is read digit by digit), one
piece each for the borders `][S` and `][` (they are a third of all borders' tokens), and pieces of
lower-case English. Knows markup and text; knows no audio and no weights.
"""

from collections.abc import Iterable

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    MossTranscribeDiarizeFeatureExtractor,
    MossTranscribeDiarizeProcessor,
    PreTrainedTokenizerFast,
)

PIECES = 1_280
CONTEXT_TOKENS = 8_192
MARKER_S = 5

END_OF_TEXT = "<|endoftext|>"
TURN_START, TURN_END = "<|im_start|>", "<|im_end|>"
AUDIO_START, AUDIO_END, AUDIO = "<|audio_start|>", "<|audio_end|>", "<|audio_pad|>"

INSTRUCTION = "transcribe and diarize"
KEYWORDS = "\nkeywords: "

_SPECIAL = (END_OF_TEXT, TURN_START, TURN_END, AUDIO_START, AUDIO_END, AUDIO)
_PIECES_OF_TEXT = r"\]\[S?|\[S?|\]|\d| ?[A-Za-z']+|\s+|[^\sA-Za-z0-9'\[\]]"

CHAT_TEMPLATE = (
    "{%- for message in messages -%}"
    f"{{{{- '{TURN_START}' + message['role'] + '\\n' -}}}}"
    "{%- if message['content'] is string -%}{{- message['content'] -}}{%- else -%}"
    "{%- set said = namespace(text='', keywords='') -%}"
    "{%- for part in message['content'] -%}"
    f"{{%- if part['type'] == 'audio' -%}}{{{{- '{AUDIO_START}{AUDIO}{AUDIO_END}\\n' -}}}}"
    "{%- elif part['type'] == 'text' -%}{%- set said.text = part['text'] -%}"
    "{%- elif part['type'] == 'keywords' -%}"
    "{%- set said.keywords = part['keywords'] | join(', ') -%}"
    "{%- endif -%}{%- endfor -%}"
    "{%- if message['role'] == 'user' -%}"
    f"{{{{- said.text if said.text else '{INSTRUCTION}' -}}}}"
    "{%- if said.keywords -%}{{- '\\nkeywords: ' + said.keywords -}}{%- endif -%}"
    "{%- else -%}{{- said.text -}}{%- endif -%}{%- endif -%}"
    f"{{{{- '{TURN_END}\\n' -}}}}{{%- endfor -%}}"
    f"{{%- if add_generation_prompt -%}}{{{{- '{TURN_START}assistant\\n' -}}}}{{%- endif -%}}"
)


def train_tokenizer(texts: Iterable[str]) -> Tokenizer:
    """Learn the pieces from sentences; every sentence is seen once within its markup."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_PIECES_OF_TEXT), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=PIECES,
        special_tokens=list(_SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        min_frequency=3,
        show_progress=False,
    )
    framed = (f"[1.23][S01]{text}[4.56][" for text in texts)
    template = (f"user\nassistant\n{INSTRUCTION}{KEYWORDS}" for _ in range(500))
    tokenizer.train_from_iterator((line for part in (framed, template) for line in part), trainer)
    return tokenizer


def build_processor(tokenizer: Tokenizer) -> MossTranscribeDiarizeProcessor:
    """Wrap a tokenizer with the feature extractor and the chat template."""
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token=TURN_END,
        pad_token=END_OF_TEXT,
        additional_special_tokens=[TURN_START, AUDIO_START, AUDIO_END, AUDIO],
        padding_side="left",
        model_max_length=CONTEXT_TOKENS,
    )
    return MossTranscribeDiarizeProcessor(
        MossTranscribeDiarizeFeatureExtractor(),
        wrapped,
        chat_template=CHAT_TEMPLATE,
        time_marker_every_seconds=MARKER_S,
    )
