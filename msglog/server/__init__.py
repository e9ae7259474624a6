"""One store for many processes, over HTTP, with a viewer."""
