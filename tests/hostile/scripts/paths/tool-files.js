// A tool has access only to files that it was granted.
// status: completed
// value: true

const tried = await Promise.allSettled(['/etc/passwd', '/workspace/data/given', 'data/given', '../x', '/'].map((path) => probe.readFile({ path })));
return tried.every((one) => one.status === 'rejected');
