// A listener of a signal that does not return.
// status: limited
// error: limit
// message contains: fuel

const controller = new AbortController();
controller.signal.addEventListener('abort', () => { for (;;); });
controller.abort();
