"""The viewer: pages for the person who asks what the model saw, and why. They get everything from `/v1` themselves."""

from msglog.server.viewer.pages import mount

__all__ = ["mount"]
