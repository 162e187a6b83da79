;; Functions that call each other through a table.
;; status: failed
;; error: tool
;; message contains: recursed too deeply
;; wit: package evil:recursion-indirect@0.1.0;
;; wit: interface t {
;; wit:   run: func();
;; wit: }
;; wit: world tool { export t; }

(module
  (type $t (func))
  (table funcref (elem $f))
  (func $f (export "evil:recursion-indirect/t@0.1.0#run") (call_indirect (type $t) (i32.const 0)) (call_indirect (type $t) (i32.const 0))))
