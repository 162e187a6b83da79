// A reviver that extends the value that is being revived.
// status: completed

JSON.parse('[1, 2]', function (key, value) { if (Array.isArray(this)) this.push([1]); return [value, [value]] });
