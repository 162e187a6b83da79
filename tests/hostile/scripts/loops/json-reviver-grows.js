// A reviver that makes what is being revived longer and longer.
// status: completed

JSON.parse('[1, 2]', function (key, value) { if (Array.isArray(this)) this.push([1]); return [value, [value]] });
