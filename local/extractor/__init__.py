"""The sample extractor: a small service that reads PDF and text, and the reference for others."""
