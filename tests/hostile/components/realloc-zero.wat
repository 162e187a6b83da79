;; An allocator that always returns the beginning of the memory.
;; status: completed
;; script: return await evil.run({ text: 'x'.repeat(1000) })
;; value: 1000
;; wit: package evil:realloc-zero@0.1.0;
;; wit: interface t {
;; wit:   run: func(text: string) -> u32;
;; wit: }
;; wit: world tool { export t; }

(module
  (memory (export "memory") 1)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 0))
  (func (export "evil:realloc-zero/t@0.1.0#run") (param i32 i32) (result i32) (local.get 1)))
