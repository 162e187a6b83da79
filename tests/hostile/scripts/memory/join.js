// A list of holes that is joined with a separator.
// status: limited
// error: limit

new Array(1e8).join('abc');
