// Endless backtracking of a regular expression in `replace`, at every position of a text.
// status: limited
// error: limit

('a'.repeat(50) + 'b').replace(/(x+x+)+y|(a*)*b$c/g, '');
'x'.repeat(50).replace(/(x+x+)+y/g, '');
