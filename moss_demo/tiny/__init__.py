"""The recipe behind the embedded checkpoint and the samples: text, speech, mixtures, training."""
