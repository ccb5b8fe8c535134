"""`python -m tests.answers`: check every answer, print the table, exit 1 on a miss."""

from __future__ import annotations

import sys

from . import all_answers
from .tally import as_text, mark, rows

marks = [mark(answer) for answer in all_answers()]
print(as_text(rows(marks)))
misses = [each for each in marks if not each.as_it_should_be]
for miss in misses:
    print(f"  {miss}", file=sys.stderr)
sys.exit(bool(misses))
