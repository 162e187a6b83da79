// The functions of the host cannot be reached through stacks, callers and arguments.
// status: completed

function caught() { try { return [caught.caller, arguments.callee] } catch (error) { return error.name } }
const stack = new Error('x').stack;
return [JSON.stringify(caught()), /native:/.test(stack)];
