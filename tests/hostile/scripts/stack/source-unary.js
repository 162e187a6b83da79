// Source text of many signs.
// status: limited
// error: limit

(0, eval)('- '.repeat(200_000) + '1');
