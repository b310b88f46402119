"""What a batch of rows needs from its prompts to its last token. Greedy; knows no end token."""

import torch
from torch import Tensor

from moss_demo.engine.fast.cache import KvCache, bucket
from moss_demo.engine.fast.decoder import Decoder
from moss_demo.engine.fast.graph import StepGraph


class Session:
    """Tokens, positions and cache of `batch` rows at fixed addresses, reused by later batches.

    Attributes:
        tokens: the newest token of each row, shape (batch, 1).
        logits: what it was chosen from, shape (batch, vocabulary).
        cache: keys and values.
    """

    def __init__(self, decoder: Decoder, batch: int, positions: int) -> None:
        """Allocate for `positions` at least; later ones make the cache grow."""
        weights = decoder.weights
        device = weights.norm.device
        self._decoder = decoder
        self._graph: StepGraph | None = None
        self._used = 0
        self.cache = KvCache(weights, batch, bucket(positions))
        self.tokens = torch.zeros(batch, 1, dtype=torch.long, device=device)
        self._positions = torch.zeros_like(self.tokens)
        self.logits = weights.norm.new_empty(batch, weights.head.shape[0])

    def fits(self, batch: int, positions: int) -> bool:
        """Tell whether a batch can begin here without other memory."""
        return self.cache.batch == batch and self.cache.capacity >= positions

    @torch.inference_mode()
    def begin(self, prompts: list[Tensor]) -> None:
        """Read the prompts, shape (prompt tokens, hidden) each, and choose their first tokens."""
        lengths = [prompt.shape[0] for prompt in prompts]
        self._used = max(lengths)
        self._positions.copy_(torch.tensor(lengths).unsqueeze(1))
        self._choose(self._decoder.prefill(prompts, self.cache))

    @torch.inference_mode()
    def advance(self) -> None:
        """Choose the next token of each row."""
        if self._used == self.cache.capacity:
            self._grow()
        self._used += 1
        if self.tokens.device.type != "cuda":
            self._step(self._used)
            return
        if self._graph is None:
            self._graph = StepGraph(self._step_on_device, (self.tokens, self._positions))
        self._graph.replay()

    def _grow(self) -> None:
        if self.tokens.device.type == "cuda":
            torch.cuda.synchronize()  # steps under way still use the graph and its tensors
        self._graph = None
        self.cache.grow(bucket(self._used + 1))

    def _step_on_device(self) -> None:
        self._step(self.cache.capacity)

    def _step(self, used: int) -> None:
        logits = self._decoder.step(self.tokens, self._positions, self.cache, used)
        self._positions.add_(1)
        self._choose(logits)

    def _choose(self, logits: Tensor) -> None:
        self.logits.copy_(logits)
        self.tokens.copy_(logits.argmax(dim=-1, keepdim=True))
