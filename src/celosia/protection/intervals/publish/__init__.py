"""From slacks in floating point to published ranges on decimals, audited."""
