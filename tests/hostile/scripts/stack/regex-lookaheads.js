// A regular expression of nested lookaheads, matched with a text.
// status: completed

new RegExp('(?='.repeat(5_000) + 'a' + ')'.repeat(5_000)).test('a');
