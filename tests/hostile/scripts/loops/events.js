// A listener that emits its own event.
// status: failed
// error: exception
// name: RangeError

const { EventEmitter } = require('events');
const emitter = new EventEmitter();
emitter.on('a', () => emitter.emit('a'));
emitter.emit('a');
