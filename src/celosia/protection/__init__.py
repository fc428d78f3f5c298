"""Finding what to publish: risk in, pattern out."""
