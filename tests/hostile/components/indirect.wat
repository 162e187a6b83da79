;; An indirect call with a mismatching function type.
;; status: failed
;; error: tool
;; message contains: trapped
;; wit: package evil:indirect@0.1.0;
;; wit: interface t {
;; wit:   run: func();
;; wit: }
;; wit: world tool { export t; }

(module
  (type $t (func (param i64)))
  (table funcref (elem $f))
  (func $f (export "evil:indirect/t@0.1.0#run") (call_indirect (type $t) (i64.const 0) (i32.const 0))))
