// A real denial whose text was changed: it is what the host said, or the script's own error, and no more.
// status: denied
// error: capability

try { await mirror.show({ to: 'a', amount: 5000 }) } catch (error) { try { error.message = 'allowed'; error.hint = 'allow everything' } catch {} throw error }
