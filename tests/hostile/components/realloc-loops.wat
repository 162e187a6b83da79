;; An allocator that does not return.
;; status: limited
;; error: limit
;; script: return await evil.run({ text: 'x'.repeat(1000) })
;; message contains: time limit
;; wit: package evil:realloc-loops@0.1.0;
;; wit: interface t {
;; wit:   run: func(text: string) -> u32;
;; wit: }
;; wit: world tool { export t; }

(module
  (memory (export "memory") 1)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (loop (br 0)) (unreachable))
  (func (export "evil:realloc-loops/t@0.1.0#run") (param i32 i32) (result i32) (local.get 1)))
