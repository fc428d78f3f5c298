"""Combined suppression: every range has a fixed cost beside that of its width."""
