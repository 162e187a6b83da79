// Adds up orders. `tool.h` is made of `wit/` when it is built. What a function is given is its to free; what it returns,
// the bindings free.

#include "tool.h"

// The names that the bindings give carry the package and the interface.
#define ORDERS(name) exports_{{c}}_orders_##name
#define ORDERS_ERROR(name) EXPORTS_{{C}}_ORDERS_ERROR_##name

typedef ORDERS(item_t) item_t;
typedef ORDERS(list_item_t) items_t;
typedef ORDERS(bill_t) bill_t;
typedef ORDERS(error_t) error_t;

static bool fail(error_t *error, uint8_t tag) {
    error->tag = tag;
    return false;
}

static bool add_up(const items_t *items, uint32_t percent, bill_t *bill, error_t *error) {
    if (items->len == 0) return fail(error, ORDERS_ERROR(EMPTY));
    if (percent > 100) {
        error->val.discount = percent;
        return fail(error, ORDERS_ERROR(DISCOUNT));
    }
    *bill = (bill_t){0};
    for (size_t at = 0; at < items->len; at++) {
        const item_t *item = &items->ptr[at];
        if (item->quantity == 0) {
            tool_string_dup_n(&error->val.no_quantity, (const char *)item->name.ptr, item->name.len);
            return fail(error, ORDERS_ERROR(NO_QUANTITY));
        }
        bill->quantity += item->quantity;
        uint64_t price = (uint64_t)item->quantity * item->price;
        if (__builtin_add_overflow(bill->net, price, &bill->net)) return fail(error, ORDERS_ERROR(TOO_LARGE));
    }
    // Whole hundreds first: the product of the sum itself could be too large.
    bill->discount = bill->net / 100 * percent + bill->net % 100 * percent / 100;
    bill->total = bill->net - bill->discount;
    return true;
}

bool ORDERS(add_up)(items_t *items, uint32_t *percent_off, bill_t *bill, error_t *error) {
    bool done = add_up(items, percent_off == NULL ? 0 : *percent_off, bill, error);
    ORDERS(list_item_free)(items);
    return done;
}
