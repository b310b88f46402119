"""Many recordings: manifests, resumable runs in batches, scores of a corpus, ranking of takes."""
