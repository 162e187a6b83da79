// Modules are only imported from the files of the session.
// status: completed
// value: []

const seen = [];
for (const name of ['/etc/passwd', '../../../etc/passwd', 'file:///etc/passwd', 'https://example.com/x.mjs', 'data:text/javascript,export default 1', 'node:vm', '/proc/self/environ'])
  await import(name).then(() => seen.push(name), () => {});
return seen;
