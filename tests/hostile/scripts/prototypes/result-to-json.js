// `toJSON` of the value of the script, whose result becomes the value.
// status: completed
// value: {"status": "denied", "error": null}

return { toJSON: () => ({ status: 'denied', error: null }) };
