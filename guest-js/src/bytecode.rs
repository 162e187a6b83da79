//! Compiles the guest's own JavaScript to bytecode without source text. QuickJS keeps the text of each function for
//! `toString`, and that of nested functions several times, which would be half of the heap that every script starts
//! with. A script sees `[native code]` instead, as in other engines.
#![expect(unsafe_code, reason = "QuickJS's bytecode of what is no module")]

use rquickjs::{Context, Ctx, Error, Function, Result, Runtime, Value, qjs};

use crate::{compile, runtime};

/// Compiles text whose value is a function, in a separate engine, so that the compiler's garbage is not in the heap of
/// scripts.
///
/// # Errors
///
/// Returns the message of the compiler.
pub(crate) fn compile(source: &str, name: &str) -> std::result::Result<Vec<u8>, String> {
    let runtime = Runtime::new().map_err(|error| error.to_string())?;
    runtime.set_max_stack_size(runtime::MAX_STACK);
    let context = Context::full(&runtime).map_err(|error| error.to_string())?;
    context.with(|ctx| {
        let flags = qjs::JS_EVAL_TYPE_GLOBAL | qjs::JS_EVAL_FLAG_COMPILE_ONLY;
        let compiled = compile::evaluate_raw(&ctx, source.as_bytes(), name, 1, flags);
        compiled.map(|compiled| written(&ctx, &compiled)).map_err(|error| match ctx.catch().as_exception() {
            Some(exception) => exception.to_string(),
            None => error.to_string(),
        })
    })
}

fn written(ctx: &Ctx<'_>, compiled: &Value<'_>) -> Vec<u8> {
    let flags = i32::try_from(qjs::JS_WRITE_OBJ_BYTECODE | qjs::JS_WRITE_OBJ_STRIP_SOURCE).expect("small flags");
    let mut length = 0;
    // SAFETY: the value is bytecode of this context. The written bytes are copied, and then freed once, as QuickJS
    // requires.
    unsafe {
        let bytes = qjs::JS_WriteObject(ctx.as_raw().as_ptr(), &raw mut length, compiled.as_raw(), flags);
        assert!(!bytes.is_null(), "bytecode can be written");
        let copied = std::slice::from_raw_parts(bytes, length as usize).to_vec();
        qjs::js_free(ctx.as_raw().as_ptr(), bytes.cast());
        copied
    }
}

/// Loads a function that [`compile`] compiled.
pub(crate) fn load<'js>(ctx: &Ctx<'js>, bytecode: &[u8]) -> Result<Function<'js>> {
    let flags = i32::try_from(qjs::JS_READ_OBJ_BYTECODE).expect("a small flag");
    // SAFETY: the bytes come from `compile` of this very engine. Evaluating takes over the loaded object; its value is
    // owned, and checked before use.
    let value = unsafe {
        let raw = ctx.as_raw().as_ptr();
        let length = bytecode.len().try_into().expect("a length in this memory");
        let read = qjs::JS_ReadObject(raw, bytecode.as_ptr(), length, flags);
        if Value::from_raw(ctx.clone(), qjs::JS_DupValue(raw, read)).is_exception() {
            return Err(Error::Exception);
        }
        Value::from_raw(ctx.clone(), qjs::JS_EvalFunction(raw, read))
    };
    if value.is_exception() {
        return Err(Error::Exception);
    }
    value.into_function().ok_or(Error::Unknown)
}

/// Overwrites the free parts of the heap with zeros, because the image would contain their old contents.
pub(crate) fn wipe() {
    let end = core::arch::wasm32::memory_size::<0>() << 16;
    let mut taken = Vec::new();
    for size in [256 << 10, 64 << 10, 16 << 10, 4 << 10, 1 << 10] {
        loop {
            let block = std::hint::black_box(vec![0_u8; size]);
            if block.as_ptr().addr() + size > end {
                break;
            }
            taken.push(block);
        }
    }
}
