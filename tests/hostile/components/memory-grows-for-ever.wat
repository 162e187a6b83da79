;; A function that requests memory endlessly although it does not get any.
;; status: limited
;; error: limit
;; wit: package evil:memory-grows-for-ever@0.1.0;
;; wit: interface t {
;; wit:   run: func();
;; wit: }
;; wit: world tool { export t; }

(module
  (memory 1)
  (func (export "evil:memory-grows-for-ever/t@0.1.0#run") (loop (drop (memory.grow (i32.const 1000))) (br 0))))
