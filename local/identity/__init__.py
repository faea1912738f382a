"""The token issuer that stands in for Entra ID on a laptop."""
