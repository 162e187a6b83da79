// A JSON text of nested lists.
// status: limited
// error: limit

JSON.parse('['.repeat(200_000) + ']'.repeat(200_000));
