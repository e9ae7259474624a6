"""The templates. They escape what is put in."""

from __future__ import annotations

from pathlib import Path

from starlette.templating import Jinja2Templates

templates = Jinja2Templates(Path(__file__).parent / "templates")
