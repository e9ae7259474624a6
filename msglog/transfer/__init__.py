"""Conversations in and out of a store: bundles that carry logs whole, and exports that people and tools read."""

from msglog.transfer.bundle import ExportReport, export_bundle, import_bundle
from msglog.transfer.finetuning import to_finetuning
from msglog.transfer.markdown import to_markdown
from msglog.transfer.page import to_html
from msglog.transfer.plain import to_json
from msglog.transfer.report import ImportedLog, ImportReport, Loss
from msglog.transfer.view import export_view

__all__ = [
    "ExportReport",
    "ImportReport",
    "ImportedLog",
    "Loss",
    "export_bundle",
    "export_view",
    "import_bundle",
    "to_finetuning",
    "to_html",
    "to_json",
    "to_markdown",
]
