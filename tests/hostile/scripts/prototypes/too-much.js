// The amount that the policy does not allow: refused, whatever surrounds it.
// status: completed
// value: "CapabilityError"
// calls: denied

try { await mirror.show({ to: 'a', amount: 5000 }) } catch (error) { return error.name }
