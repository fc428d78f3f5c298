"""The null space of the relations: every cell as a combination of a few coordinates, and cells that move together."""
