// An instance of a class with getters, of which only its own fields are arguments.
// status: completed
// value: {"to": "a", "amount": 5}
// calls: ok

class Order { constructor() { this.to = 'a'; this.amount = 5 } get evil() { return 1 } }
return await mirror.show(new Order());
