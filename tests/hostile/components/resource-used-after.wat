;; A handle that is used after its drop.
;; status: failed
;; error: tool
;; wit: package evil:resource-used-after@0.1.0;
;; wit: interface t {
;; wit:   resource thing { constructor(); }
;; wit:   run: func() -> u32;
;; wit: }
;; wit: world tool { export t; }

(module
  (import "[export]evil:resource-used-after/t@0.1.0" "[resource-new]thing" (func $new (param i32) (result i32)))
  (import "[export]evil:resource-used-after/t@0.1.0" "[resource-drop]thing" (func $drop (param i32)))
  (import "[export]evil:resource-used-after/t@0.1.0" "[resource-rep]thing" (func $rep (param i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "evil:resource-used-after/t@0.1.0#[constructor]thing") (result i32) (call $new (i32.const 7)))
  (func (export "evil:resource-used-after/t@0.1.0#run") (result i32) (local $a i32) (local.set $a (call $new (i32.const 1))) (call $drop (local.get $a)) (call $rep (local.get $a))))
