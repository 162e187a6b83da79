;; A tool that is not hostile. It returns its arguments, so that a script can check what a tool received.
;; wit: package evil:mirror@0.1.0;
;; wit: interface mirror {
;; wit:   record order { to: string, amount: u32 }
;; wit:   show: func(to: string, amount: u32) -> order;
;; wit: }
;; wit: world tool { export mirror; }

(module
  (memory (export "memory") 64)
  (global $next (mut i32) (i32.const 4096))
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (local $at i32)
    (local.set $at (global.get $next))
    (global.set $next (i32.add (global.get $next) (i32.and (i32.add (local.get 3) (i32.const 15)) (i32.const -8))))
    (local.get $at))
  (func (export "evil:mirror/mirror@0.1.0#show") (param $to i32) (param $length i32) (param $amount i32) (result i32)
    (i32.store (i32.const 16) (local.get $to))
    (i32.store (i32.const 20) (local.get $length))
    (i32.store (i32.const 24) (local.get $amount))
    (i32.const 16)))
