;; An allocator that returns addresses outside of the memory.
;; status: failed
;; error: tool
;; script: return await evil.run({ text: 'x'.repeat(1000) })
;; wit: package evil:realloc-outside@0.1.0;
;; wit: interface t {
;; wit:   run: func(text: string) -> u32;
;; wit: }
;; wit: world tool { export t; }

(module
  (memory (export "memory") 1)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const -16))
  (func (export "evil:realloc-outside/t@0.1.0#run") (param i32 i32) (result i32) (local.get 1)))
