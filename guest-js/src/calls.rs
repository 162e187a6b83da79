//! Calls of tools that a script cannot cancel. Their promises are settled here, without a function of the prelude.
//!
//! All other operations that a script waits for are in the prelude's table (`prelude/operations.js`).

use std::cell::RefCell;
use std::collections::BTreeMap;

use rquickjs::{Ctx, Error, Function, Persistent, Promise, Result, Value};

use crate::bindings::types::{Failure, Operation, OperationId, ToolCall, Value as Completed};
use crate::convert::{self, JsonPurpose};
use crate::{errors, limits, operations, text};

/// Call that has begun.
pub(crate) struct Call {
    resolve: Persistent<Function<'static>>,
    reject: Persistent<Function<'static>>,
    /// Stack trace of the place in the script that made the call.
    stack: Persistent<Value<'static>>,
    method: String,
}

thread_local! {
    static CALLS: RefCell<BTreeMap<OperationId, Call>> = const { RefCell::new(BTreeMap::new()) };
}

/// Begins a call with one argument object, and returns the promise of its result. `stack` is the stack trace of the
/// caller.
pub(crate) fn begin<'js>(
    ctx: &Ctx<'js>,
    method: String,
    arguments: Value<'js>,
    stack: Value<'js>,
) -> Result<Promise<'js>> {
    let (promise, resolve, reject) = Promise::new(ctx)?;
    match begin_operation(ctx, &method, arguments, &stack) {
        Ok(id) => {
            let [resolve, reject] = [resolve, reject].map(|function| Persistent::save(ctx, function));
            let call = Call { resolve, reject, stack: Persistent::save(ctx, stack), method };
            CALLS.with_borrow_mut(|calls| calls.insert(id, call));
        }
        // A getter of the arguments threw, or they cannot be written as JSON.
        Err(Error::Exception) if limits::stopped().is_none() => reject.call::<_, ()>((ctx.catch(),))?,
        Err(error) => return Err(error),
    }
    Ok(promise)
}

/// Begins the operation of a call, without a promise. `stack` is the stack trace of the caller.
pub(crate) fn begin_operation<'js>(
    ctx: &Ctx<'js>,
    method: &str,
    arguments: Value<'js>,
    stack: &Value<'js>,
) -> Result<OperationId> {
    let Some(arguments) = convert::to_json(ctx, arguments, JsonPurpose::Arguments)? else {
        return Err(errors::type_error(ctx, "the arguments have no JSON"));
    };
    if !arguments.starts_with('{') {
        // The `toJSON` of the object returned something else than an object.
        return Err(errors::type_error(ctx, &format!("{method} takes one object, but its JSON is none")));
    }
    let location = text::with_text(stack, errors::location).flatten();
    Ok(operations::begin(Operation::Call(ToolCall { method: method.to_owned(), arguments, location })))
}

/// Removes and returns the completed call with this number. `None` means that the operation is in the prelude's table.
pub(crate) fn take(id: OperationId) -> Option<Call> {
    CALLS.with_borrow_mut(|calls| calls.remove(&id))
}

impl Call {
    /// Settles the promise of a call with its result. The prelude's function `failure_error` makes the error of a
    /// failure.
    pub(crate) fn settle<'js>(
        self,
        ctx: &Ctx<'js>,
        failure_error: &Persistent<Function<'static>>,
        result: std::result::Result<Completed, Failure>,
    ) -> Result<()> {
        let [resolve, reject] = [self.resolve, self.reject].map(|function| function.restore(ctx));
        match result {
            Ok(value) => resolve?.call((convert::completed(ctx, value)?,)),
            Err(failure) => {
                let record = errors::to_record(ctx, failure)?;
                let error: Value<'js> =
                    failure_error.clone().restore(ctx)?.call((record, self.stack.restore(ctx)?, self.method))?;
                reject?.call((error,))
            }
        }
    }
}
