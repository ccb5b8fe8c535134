"""The measurements of `python -m attnlab.bench --record`, which are kept beside this lesson."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parent / "recorded"


def recorded() -> list[dict[str, Any]]:
    """The documents, the newest first.

    Each has 'device', 'driver', 'versions', 'date', 'command', and 'runs': what was the same for
    a comparison ('d', 'heads', 'dtype', 'causal', 'device', 'peak'), and its 'rows', each as
    `bench.Row`.
    """
    kept = [json.loads(path.read_text(encoding="utf-8")) for path in RECORDED.glob("*.json")]
    return sorted(kept, key=lambda each: (each["date"], each["device"]), reverse=True)
