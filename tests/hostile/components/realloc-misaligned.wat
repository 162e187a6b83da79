;; An allocator that returns misaligned addresses.
;; status: failed
;; error: tool
;; script: return await evil.run({ items: [1, 2, 3] })
;; wit: package evil:realloc-misaligned@0.1.0;
;; wit: interface t {
;; wit:   run: func(items: list<u64>) -> u32;
;; wit: }
;; wit: world tool { export t; }

(module
  (memory (export "memory") 1)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1025))
  (func (export "evil:realloc-misaligned/t@0.1.0#run") (param i32 i32) (result i32) (local.get 1)))
