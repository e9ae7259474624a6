"""The resources under `/v1`, one module for each kind."""
