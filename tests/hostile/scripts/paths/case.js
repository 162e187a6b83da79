// Names that differ in case, or in the encoding of an accent, denote different files.
// status: completed
// value: true

const f = require('fs');
for (const name of ['name', 'NAME', 'é', 'e\u0301', 'ﬁ', 'fi', 'ß', 'SS']) f.writeFileSync(name, name);
return f.readdirSync('.').length === 9 && f.readFileSync('é', 'utf8') === 'é';
