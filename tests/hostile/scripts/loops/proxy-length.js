// A list as the value of the script, with a length beyond any memory.
// status: limited
// error: limit

return new Proxy([], { get: (_, key) => (key === 'length' ? 2 ** 53 - 1 : 1) });
