"""The fast decode path: own cache, own decoder, one CUDA graph a step. Equal to the reference."""
