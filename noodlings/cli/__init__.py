"""The command line: one file a subcommand, and `main`, which knows them all."""
