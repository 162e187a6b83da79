;; A NaN with a payload.
;; status: completed
;; value: null
;; wit: package evil:value-nan@0.1.0;
;; wit: interface t {
;; wit:   run: func() -> f64;
;; wit: }
;; wit: world tool { export t; }

(module (func (export "evil:value-nan/t@0.1.0#run") (result f64) (f64.const nan:0x123456789)))
