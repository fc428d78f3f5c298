"""Linear programs of respondents: moves of cells that form no network, in numbers of any size."""
