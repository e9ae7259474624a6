"""The viewer: pages for a person, which get everything from `/v1` themselves."""

from msglog.server.viewer.pages import mount

__all__ = ["mount"]
