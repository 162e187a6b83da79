;; An allocator that returns the address of the last byte.
;; status: failed
;; error: tool
;; script: return await evil.run({ text: 'x'.repeat(1000) })
;; wit: package evil:realloc-end@0.1.0;
;; wit: interface t {
;; wit:   run: func(text: string) -> u32;
;; wit: }
;; wit: world tool { export t; }

(module
  (memory (export "memory") 1)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 65535))
  (func (export "evil:realloc-end/t@0.1.0#run") (param i32 i32) (result i32) (local.get 1)))
