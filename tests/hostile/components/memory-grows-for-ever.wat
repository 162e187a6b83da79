;; A function that goes on asking for memory that it does not get.
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
