"""A store on a server, with the library's own face: what `msglog.open("http://…")` opens."""
