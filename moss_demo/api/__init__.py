"""The HTTP API: OpenAI's routes for transcription, health, figures; the same runs as the page."""
