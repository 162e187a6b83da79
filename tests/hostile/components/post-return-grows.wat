;; A clean-up function that allocates all available memory, and tolerates the failure.
;; status: completed
;; value: "hi"
;; wit: package evil:post-return-grows@0.1.0;
;; wit: interface t {
;; wit:   run: func() -> string;
;; wit: }
;; wit: world tool { export t; }

(module
  (memory (export "memory") 1)
    (global $next (mut i32) (i32.const 65536))
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (local $at i32)
    (local.set $at (global.get $next))
    (global.set $next (i32.add (global.get $next) (i32.and (i32.add (local.get 3) (i32.const 15)) (i32.const -8))))
    (local.get $at))
  (func (export "evil:post-return-grows/t@0.1.0#run") (result i32) (i32.store (i32.const 16) (i32.const 64)) (i32.store (i32.const 20) (i32.const 2)) (i32.store16 (i32.const 64) (i32.const 0x6968)) (i32.const 16))
  (func (export "cabi_post_evil:post-return-grows/t@0.1.0#run") (param i32) (loop (br_if 0 (i32.ge_s (memory.grow (i32.const 16)) (i32.const 0))))))
