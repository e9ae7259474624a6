"""What a service counts, for Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SIZES = (1, 2, 5, 10, 50, 100, 500, 1000, 10_000)
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)


class Metrics:
    """The counters of one service."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        at = self.registry
        self.requests = Counter("msglog_requests", "Requests answered", ["method", "route", "status"], registry=at)
        self.seconds = Histogram(
            "msglog_request_seconds", "Time to the first byte of an answer", ["route"], registry=at, buckets=_SECONDS
        )
        self.appends = Counter("msglog_appended_messages", "Messages stored by appends and commits", registry=at)
        self.batches = Histogram("msglog_append_messages", "Messages of an append", registry=at, buckets=_SIZES)
        self.commits = Histogram(
            "msglog_commit_seconds", "Time from handing an append or a commit to the store until it is durable",
            registry=at, buckets=_SECONDS,
        )  # fmt: skip
        self.followers = Gauge("msglog_followers", "Open streams of followers", registry=at)
        self.sent = Counter("msglog_followed_messages", "Messages sent to followers", registry=at)
        self.logs = Gauge("msglog_logs", "Logs in the store", registry=at)
        self.entries = Gauge("msglog_entries", "Entries in the store", registry=at)
        self.bytes = Gauge("msglog_store_bytes", "Size of the store's file", registry=at)
        self.wal = Gauge("msglog_wal_bytes", "Size of the store's write-ahead log", registry=at)

    def exposition(self) -> bytes:
        """All of them, in Prometheus' text format."""
        return generate_latest(self.registry)
