"""What a reader sees of a result: summaries and pages."""
