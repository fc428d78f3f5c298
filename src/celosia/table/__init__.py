"""The mathematical object: values, relations, labels. No idea of secrecy."""
