"""Complete suppression: cells are shown or hidden."""
