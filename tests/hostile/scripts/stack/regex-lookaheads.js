// An expression of nested lookaheads, matched.
// status: completed

new RegExp('(?='.repeat(5_000) + 'a' + ')'.repeat(5_000)).test('a');
