"""Linear masters solved nearly, by steps that multiply by their rows and no more."""
