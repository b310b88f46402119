"""The Gradio page: layout, wiring and pure presenters over the engine's stream."""
