;; A table that grows as far as it may.
;; status: completed
;; value: 1
;; wit: package evil:table-grows@0.1.0;
;; wit: interface t {
;; wit:   run: func() -> u32;
;; wit: }
;; wit: world tool { export t; }

(module
  (table $t 1 funcref)
  (func (export "evil:table-grows/t@0.1.0#run") (result i32)
    (loop (br_if 0 (i32.ge_s (table.grow $t (ref.null func) (i32.const 1000)) (i32.const 0))))
    (i32.le_u (table.size $t) (i32.const 100000))))
