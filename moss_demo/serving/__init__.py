"""What page and HTTP API share: the host's offer, readiness, figures, temporary files."""
