;; An allocator that allocates all available memory.
;; status: limited
;; error: limit
;; script: return await evil.run({ text: 'x'.repeat(1000) })
;; message contains: memory limit
;; wit: package evil:realloc-grows@0.1.0;
;; wit: interface t {
;; wit:   run: func(text: string) -> u32;
;; wit: }
;; wit: world tool { export t; }

(module
  (memory (export "memory") 1)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (loop (br_if 0 (i32.ge_s (memory.grow (i32.const 16)) (i32.const 0)))) (unreachable))
  (func (export "evil:realloc-grows/t@0.1.0#run") (param i32 i32) (result i32) (local.get 1)))
