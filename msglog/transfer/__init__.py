"""Logs on their way in and out: bundles, readable exports, importers of other stores' files."""
