"""The search over any modes of publication: ranges, rounded and moved values, beside hidden cells."""
