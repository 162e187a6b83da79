// A separator between holes.
// status: limited
// error: limit

new Array(1e8).join('abc');
