;; Thirty million one-byte values, which take far more memory in a host that converts them individually.
;; status: limited
;; wit: package evil:list-of-bools@0.1.0;
;; wit: interface t {
;; wit:   run: func() -> list<bool>;
;; wit: }
;; wit: world tool { export t; }

(module
  (memory (export "memory") 512)
    (global $next (mut i32) (i32.const 65536))
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (local $at i32)
    (local.set $at (global.get $next))
    (global.set $next (i32.add (global.get $next) (i32.and (i32.add (local.get 3) (i32.const 15)) (i32.const -8))))
    (local.get $at))
  (func (export "evil:list-of-bools/t@0.1.0#run") (result i32) (local $n i32)
    (i32.store (i32.const 16) (i32.const 0))
    (i32.store (i32.const 20) (i32.const 30000000))
    (i32.const 16)))
