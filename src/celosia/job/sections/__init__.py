"""The sections of a job file, but for those of methods."""
