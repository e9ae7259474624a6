"""Benchmarks: msglog beside plain `sqlite3` and beside what users pick instead, in interleaved rounds of one run."""
