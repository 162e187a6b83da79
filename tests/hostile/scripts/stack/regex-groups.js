// A regular expression of nested groups.
// status: failed
// error: exception
// name: SyntaxError

new RegExp('('.repeat(100_000) + ')'.repeat(100_000));
