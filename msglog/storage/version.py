"""What marks a file as a store, and which schema this release reads and writes."""

APPLICATION_ID = 0x6D73676C
"""`PRAGMA application_id` of a store: "msgl"."""

VERSION = "0001"
"""The newest migration."""
