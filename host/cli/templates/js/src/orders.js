// What WIT calls u64 is a BigInt here. A `result` is returned, or its error is thrown.

export const orders = {
  addUp(items, percentOff) {
    const percent = percentOff ?? 0;
    if (items.length === 0) throw { tag: 'empty' };
    if (percent > 100) throw { tag: 'discount', val: percent };
    let quantity = 0n;
    let net = 0n;
    for (const item of items) {
      if (item.quantity === 0) throw { tag: 'no-quantity', val: item.name };
      quantity += BigInt(item.quantity);
      net += BigInt(item.quantity) * BigInt(item.price);
    }
    if (net >= 2n ** 64n) throw { tag: 'too-large' };
    const discount = (net * BigInt(percent)) / 100n;
    return { quantity, net, discount, total: net - discount };
  },
};
