// A tool sees no file that it was not granted.
// status: completed
// value: true

const tried = await Promise.allSettled(['/etc/passwd', '/workspace/data/given', 'data/given', '../x', '/'].map((path) => probe.readFile({ path })));
return tried.every((one) => one.status === 'rejected');
