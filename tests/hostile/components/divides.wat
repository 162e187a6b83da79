;; A division by zero.
;; status: failed
;; error: tool
;; message contains: divide by zero
;; wit: package evil:divides@0.1.0;
;; wit: interface t {
;; wit:   run: func() -> u32;
;; wit: }
;; wit: world tool { export t; }

(module (func (export "evil:divides/t@0.1.0#run") (result i32) (i32.div_u (i32.const 1) (i32.const 0))))
