;; A table of ten million elements.
;; status: failed
;; error: tool
;; wit: package evil:table-declared@0.1.0;
;; wit: interface t {
;; wit:   run: func() -> u32;
;; wit: }
;; wit: world tool { export t; }

(module
  (table 10000000 funcref)
  (func (export "evil:table-declared/t@0.1.0#run") (result i32) (i32.const 1)))
