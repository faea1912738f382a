"""The database of an environment, for the scripts: reaching it, its roles, its schema."""
