"""What happens to open writers when a process ends or forks.

The writer's own thread hands data to the system within 100 ms whatever happens; this makes the last 100 ms sure where
a process ends in an orderly way: at the interpreter's exit, and at the end of multiprocessing's children, which leave
without it.
"""

from __future__ import annotations

import atexit
import os
import sys

from seaboard import _native


def _process_is_new() -> None:
    """Called at the first use of a writer in a process: children of multiprocessing flush when their work is done."""
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.Finalize(None, _native.flush_all, exitpriority=0)


def _refuse_keyword(method: str, keyword: str) -> None:
    from seaboard._hints import refuse_keyword

    refuse_keyword(method, keyword)


_native.set_hooks(_process_is_new, _refuse_keyword)
atexit.register(_native.flush_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_native.process_is_new)
