"""The embedded Azure Functions host: the real Python worker library with triggers around it."""
