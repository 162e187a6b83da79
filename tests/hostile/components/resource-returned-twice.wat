;; A handle that is returned twice.
;; status: failed
;; error: tool
;; wit: package evil:resource-returned-twice@0.1.0;
;; wit: interface t {
;; wit:   resource thing { constructor(); }
;; wit:   run: func() -> tuple<thing, thing>;
;; wit: }
;; wit: world tool { export t; }

(module
  (import "[export]evil:resource-returned-twice/t@0.1.0" "[resource-new]thing" (func $new (param i32) (result i32)))
  (import "[export]evil:resource-returned-twice/t@0.1.0" "[resource-drop]thing" (func $drop (param i32)))
  (import "[export]evil:resource-returned-twice/t@0.1.0" "[resource-rep]thing" (func $rep (param i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "evil:resource-returned-twice/t@0.1.0#[constructor]thing") (result i32) (call $new (i32.const 7)))
  (func (export "evil:resource-returned-twice/t@0.1.0#run") (result i32) (local $a i32) (local.set $a (call $new (i32.const 1))) (i32.store (i32.const 16) (local.get $a)) (i32.store (i32.const 20) (local.get $a)) (i32.const 16)))
