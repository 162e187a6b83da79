// The functions of the host cannot be called.
// status: completed
// value: []

return ['native', 'outstanding', 'settle', '__tollhouse', 'perform', 'start', 'resume', 'nativeCall'].filter((name) => typeof globalThis[name] !== 'undefined');
