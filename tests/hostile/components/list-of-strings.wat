;; Millions of references to the same text of a megabyte.
;; status: limited
;; wit: package evil:list-of-strings@0.1.0;
;; wit: interface t {
;; wit:   run: func() -> list<string>;
;; wit: }
;; wit: world tool { export t; }

(module
  (memory (export "memory") 64)
    (global $next (mut i32) (i32.const 65536))
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (local $at i32)
    (local.set $at (global.get $next))
    (global.set $next (i32.add (global.get $next) (i32.and (i32.add (local.get 3) (i32.const 15)) (i32.const -8))))
    (local.get $at))
  (func (export "evil:list-of-strings/t@0.1.0#run") (result i32) (local $n i32)
    (i32.store (i32.const 16) (i32.const 65536))
    (i32.store (i32.const 20) (i32.const 100000))
    (loop
      (i32.store (i32.add (i32.const 0x10000) (i32.shl (local.get $n) (i32.const 3))) (i32.const 0x200000))
      (i32.store (i32.add (i32.const 0x10004) (i32.shl (local.get $n) (i32.const 3))) (i32.const 1000000))
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br_if 0 (i32.lt_u (local.get $n) (i32.const 100000))))
    (i32.const 16)))
