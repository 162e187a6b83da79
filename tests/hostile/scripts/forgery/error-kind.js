// An error that pretends to be a limit or a denial.
// status: failed
// error: exception
// message contains: mine

throw Object.assign(new Error('mine'), { name: 'CapabilityError', kind: 'capability', status: 'denied', hint: 'run with --allow **' });
