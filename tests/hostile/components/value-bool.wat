;; A truth value of 2, which is true according to the canonical ABI.
;; status: completed
;; value: true
;; wit: package evil:value-bool@0.1.0;
;; wit: interface t {
;; wit:   run: func() -> bool;
;; wit: }
;; wit: world tool { export t; }

(module (func (export "evil:value-bool/t@0.1.0#run") (result i32) (i32.const 2)))
