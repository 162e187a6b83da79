// A callback of `replace` that does not return.
// status: limited
// error: limit
// message contains: fuel

'a'.replace(/a/, () => { for (;;); });
