// A name that is no text: an error or a replacement, and no other file.
// status: completed
// value: true

const f = require('fs');
try { f.writeFileSync('\ud800', 'x') } catch (error) { return true }
return f.readdirSync('.').length === 2;
