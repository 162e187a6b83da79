;; A variant with an invalid discriminant.
;; status: failed
;; error: tool
;; wit: package evil:value-variant@0.1.0;
;; wit: interface t {
;; wit:   variant shape { dot(u32), line(u32) }
;; wit:   run: func() -> shape;
;; wit: }
;; wit: world tool { export t; }

(module (memory (export "memory") 1)   (global $next (mut i32) (i32.const 65536))
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (local $at i32)
    (local.set $at (global.get $next))
    (global.set $next (i32.add (global.get $next) (i32.and (i32.add (local.get 3) (i32.const 15)) (i32.const -8))))
    (local.get $at)) (func (export "evil:value-variant/t@0.1.0#run") (result i32) (i32.store (i32.const 16) (i32.const 9)) (i32.const 16)))
