"""The durable engine of the embedded Functions host; how it works stands in README.md."""
