"""What becomes of weights between a checkpoint's files and the engine: formats and adapters."""
