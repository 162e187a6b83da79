// Modules are only imported from the files of the session, and from the text of a `data:` URL, which the script has anyway.
// status: completed
// value: []

const seen = [];
for (const name of ['/etc/passwd', '../../../etc/passwd', 'file:///etc/passwd', 'https://example.com/x.mjs', 'data:text/html,x', 'node:wasi', '/proc/self/environ'])
  await import(name).then(() => seen.push(name), () => {});
return seen;
