// A name that is not valid text is an error or replaced, but never denotes another file.
// status: completed
// value: true

const f = require('fs');
try { f.writeFileSync('\ud800', 'x') } catch (error) { return true }
return f.readdirSync('.').length === 2;
