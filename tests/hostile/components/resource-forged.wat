;; A handle that was never issued.
;; status: failed
;; error: tool
;; wit: package evil:resource-forged@0.1.0;
;; wit: interface t {
;; wit:   resource thing { constructor(); }
;; wit:   run: func() -> thing;
;; wit: }
;; wit: world tool { export t; }

(module
  (import "[export]evil:resource-forged/t@0.1.0" "[resource-new]thing" (func $new (param i32) (result i32)))
  (import "[export]evil:resource-forged/t@0.1.0" "[resource-drop]thing" (func $drop (param i32)))
  (import "[export]evil:resource-forged/t@0.1.0" "[resource-rep]thing" (func $rep (param i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "evil:resource-forged/t@0.1.0#[constructor]thing") (result i32) (call $new (i32.const 7)))
  (func (export "evil:resource-forged/t@0.1.0#run") (result i32) (drop (call $rep (call $new (i32.const 1)))) (i32.const 4242)))
