"""Pure measures over transcripts: text errors, speaker errors and the parity verdict."""
