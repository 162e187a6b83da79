// A list that claims to be longer than any memory, as the script's value.
// status: limited
// error: limit

return new Proxy([], { get: (_, key) => (key === 'length' ? 2 ** 53 - 1 : 1) });
