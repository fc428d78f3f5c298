"""Cell perturbation: values move within a known reach, and they still add up."""
