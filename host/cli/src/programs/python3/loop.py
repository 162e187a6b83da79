"""asyncio without sockets and threads: what its event loop waits for is time, and time passes only while it waits."""

import time


def adapt(module):
    """Makes the event loop of `asyncio.unix_events` one that needs no system."""
    import selectors

    class Waits(selectors._BaseSelectorImpl):
        """Waits for the next timer."""

        def __init__(self):
            super().__init__()
            self.waited = 0.0

        def select(self, timeout=None):
            if timeout is None:
                raise RuntimeError("the event loop waits for nothing that can happen: here are no sockets and no threads")
            if timeout > 0:
                time.sleep(timeout)
                self.waited += timeout
            return []

    loop = module._UnixSelectorEventLoop
    begin = loop.__init__

    def __init__(self, selector=None):
        begin(self, Waits() if selector is None else selector)
        # The clock counts from 1970: to a nanosecond its seconds are not exact, and no timer would ever be due.
        self._clock_resolution = 1e-6

    loop.__init__ = __init__
    loop.time = lambda self: time.monotonic() + getattr(self._selector, "waited", 0.0)
    loop._make_self_pipe = loop._close_self_pipe = loop._write_to_self = lambda self: None
