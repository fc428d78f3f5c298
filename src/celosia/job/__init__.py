"""The job file, and the pipeline of verbs that it describes."""
