// A short text with a large value.
// status: limited
// error: limit

JSON.parse('[' + '[],'.repeat(4_000_000) + '[]]');
