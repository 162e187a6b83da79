// A template tag that does not return.
// status: limited
// error: limit

((strings) => { for (;;); })`a`;
