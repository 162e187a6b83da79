// A text that is short, and whose value is not.
// status: limited
// error: limit

JSON.parse('[' + '[],'.repeat(4_000_000) + '[]]');
