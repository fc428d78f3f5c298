"""What is published about each cell, and the bounds it gives away: one file per mode, and the release."""
