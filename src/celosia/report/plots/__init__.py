"""Pictures on pages, as SVG."""
