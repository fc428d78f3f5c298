"""Rules that say which cells are sensitive."""
