;; A text that exceeds the limit on results.
;; status: limited
;; error: limit
;; wit: package evil:string-large@0.1.0;
;; wit: interface t {
;; wit:   run: func() -> string;
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
  (func (export "evil:string-large/t@0.1.0#run") (result i32) (local $n i32)
    (i32.store (i32.const 16) (i32.const 1000000))
    (i32.store (i32.const 20) (i32.const 30000000))
    (i32.const 16)))
