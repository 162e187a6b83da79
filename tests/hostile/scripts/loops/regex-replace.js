// The same by `replace`, in every place of a text.
// status: limited
// error: limit

('a'.repeat(50) + 'b').replace(/(x+x+)+y|(a*)*b$c/g, '');
'x'.repeat(50).replace(/(x+x+)+y/g, '');
