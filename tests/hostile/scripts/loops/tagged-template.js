// A tag of a template that does not return.
// status: limited
// error: limit

((strings) => { for (;;); })`a`;
