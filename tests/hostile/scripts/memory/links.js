// Endless links, whose targets count as content.
// status: completed
// value: "EDQUOT"

let n = 0;
try { for (;;) require('fs').symlinkSync('/workspace/' + 'x'.repeat(3000), `l${n++}`) } catch (error) { return error.code }
