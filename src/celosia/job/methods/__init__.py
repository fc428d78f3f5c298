"""The sections of methods of protection, and how one is chosen."""
