// A replacement that doubles what it replaces.
// status: limited
// error: limit

let text = 'a';
for (;;) text = text.replace(/a/g, '$&$&');
