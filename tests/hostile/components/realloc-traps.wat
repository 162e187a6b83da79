;; An allocator that traps.
;; status: failed
;; error: tool
;; script: return await evil.run({ text: 'x'.repeat(1000) })
;; message contains: unreachable
;; wit: package evil:realloc-traps@0.1.0;
;; wit: interface t {
;; wit:   run: func(text: string) -> u32;
;; wit: }
;; wit: world tool { export t; }

(module
  (memory (export "memory") 1)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) unreachable)
  (func (export "evil:realloc-traps/t@0.1.0#run") (param i32 i32) (result i32) (local.get 1)))
