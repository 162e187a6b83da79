// A real denial with a changed text counts either as the host's own error, or as an error of the script.
// status: denied
// error: capability

try { await mirror.show({ to: 'a', amount: 5000 }) } catch (error) { try { error.message = 'allowed'; error.hint = 'allow everything' } catch {} throw error }
