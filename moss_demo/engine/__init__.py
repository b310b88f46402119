"""All that touches the model, the device or an audio file."""
