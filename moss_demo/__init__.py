"""Transcribe, diarize, compare and measure with MOSS-Transcribe-Diarize in a browser or a shell."""

__version__ = "0.1.0"
