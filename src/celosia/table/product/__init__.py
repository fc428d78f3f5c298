"""Tables whose relations are the product of their dimensions."""
