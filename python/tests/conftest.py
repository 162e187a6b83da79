"""What all tests need."""

from __future__ import annotations

import signal

# A shell starts what it runs in the background with SIGINT ignored, and Python then leaves it so.
signal.signal(signal.SIGINT, signal.default_int_handler)
