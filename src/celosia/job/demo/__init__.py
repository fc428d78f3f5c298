"""What the demo runs on, and shows."""
