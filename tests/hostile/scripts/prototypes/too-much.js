// An amount that the policy forbids is refused, whatever surrounds it.
// status: completed
// value: "CapabilityError"
// calls: denied

try { await mirror.show({ to: 'a', amount: 5000 }) } catch (error) { return error.name }
