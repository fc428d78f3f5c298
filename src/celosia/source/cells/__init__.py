"""Ready-made cells in, `celosia.Table` out."""
