"""The service: a store over HTTP. `create_app` makes it; `python -m msglog.server STORE` runs it."""
