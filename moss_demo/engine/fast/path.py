"""The fast decode path behind the engine: rows in, tokens out. Greedy only."""

from collections.abc import Sequence
from contextlib import nullcontext

import torch

from moss_demo.domain.request import DecodeOptions
from moss_demo.engine.budget import expected_positions
from moss_demo.engine.decoding import IsStopped, PushRowToken, Row, end_token_ids
from moss_demo.engine.fast.decoder import Decoder
from moss_demo.engine.fast.log_mel import DeviceLogMel
from moss_demo.engine.fast.ops import choose_ops
from moss_demo.engine.fast.reader import TokenReader
from moss_demo.engine.fast.session import Session
from moss_demo.engine.fast.weights import join_weights
from moss_demo.engine.loading import Loaded
from moss_demo.errors import RequestError


class FastPath:
    """Decodes all rows of a batch together; memory and graph stay for the next batch."""

    def __init__(self, loaded: Loaded) -> None:
        """Join the decoder's weights; nothing is allocated or recorded before the first run.

        Raises:
            CheckpointError: the decoder differs from the published one in more than its sizes.
        """
        device = loaded.model.device
        self._ends = end_token_ids(loaded)
        self._device = device
        self._decoder = Decoder(join_weights(loaded.model), choose_ops(device))
        self._session: Session | None = None
        self.log_mel = DeviceLogMel(loaded.processor.feature_extractor, device)
        self.attention = self._decoder.ops.name

    def check(self, options: DecodeOptions) -> None:
        """Refuse what only the reference path can do.

        Raises:
            RequestError: sampling is asked for.
        """
        if options.temperature > 0.0:
            raise RequestError(
                "The fast decode path is greedy; set the temperature to 0 or use "
                "--decode reference to sample."
            )

    def decode(self, rows: Sequence[Row], push: PushRowToken, is_stopped: IsStopped) -> None:
        """Decode until every row has its end token or its budget, or until stopped.

        Args:
            rows: prompts and budgets.
            push: called with the row's number and each token, the end token included.
            is_stopped: asked after each step.
        """
        is_cuda = self._device.type == "cuda"
        with torch.cuda.device(self._device) if is_cuda else nullcontext():
            try:
                self._decode(rows, push, is_stopped)
            except BaseException:
                self._session = None  # it may have broken off while its cache was growing
                raise

    def _decode(self, rows: Sequence[Row], push: PushRowToken, is_stopped: IsStopped) -> None:
        session = self._ready_session(rows)
        session.begin([row.prompt.squeeze(0) for row in rows])
        reader = TokenReader(len(rows), self._device)
        reader.put(session.tokens)
        left = {number: row.max_new_tokens for number, row in enumerate(rows)}
        steps = max(left.values()) - 1
        while left and not is_stopped():
            while steps and reader.has_room:
                session.advance()
                reader.put(session.tokens)
                steps -= 1
            tokens = reader.take()
            for number in tuple(left):
                push(number, tokens[number])
                left[number] -= 1
                if tokens[number] in self._ends or not left[number]:
                    del left[number]

    def _ready_session(self, rows: Sequence[Row]) -> Session:
        positions = max(expected_positions(r.prompt.shape[1], r.max_new_tokens) for r in rows)
        if self._session is None or not self._session.fits(len(rows), positions):
            self._session = None  # frees the old cache before the new one is allocated
            self._session = Session(self._decoder, len(rows), positions)
        return self._session
