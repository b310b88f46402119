"""Readers of transcripts made elsewhere, one format a module: strings in, transcripts out."""

from moss_demo.domain.references.reading import read_reference

__all__ = ["read_reference"]
