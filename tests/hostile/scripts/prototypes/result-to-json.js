// `toJSON` of the script's own value: what it gives is the value.
// status: completed
// value: {"status": "denied", "error": null}

return { toJSON: () => ({ status: 'denied', error: null }) };
