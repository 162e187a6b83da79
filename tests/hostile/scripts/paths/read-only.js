// Nothing can be written outside of /workspace and /tmp.
// status: completed
// value: ["EACCES", "ENOENT"]

const codes = new Set();
for (const path of ['/etc/passwd', '/x', '/usr/x', '/bin/sh', '/dev/x', '/proc/x', '/workspace/../x', '/tmp/../x'])
  await fs.writeFile(path, 'x').then(() => codes.add(path), (error) => codes.add(error.code));
return [...codes].sort();
