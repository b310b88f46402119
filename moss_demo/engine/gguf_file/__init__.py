"""Checkpoints in one GGUF file: the container, its names, and what they become."""
