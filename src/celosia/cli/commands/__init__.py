"""The subcommands of ``celosia``, one module each."""
