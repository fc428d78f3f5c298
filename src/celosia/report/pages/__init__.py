"""HTML pages for the office: one file each that needs nothing else."""
