;; Endless operations on an entire memory.
;; status: limited
;; error: limit
;; message contains: time limit
;; wit: package evil:memory-fill@0.1.0;
;; wit: interface t {
;; wit:   run: func();
;; wit: }
;; wit: world tool { export t; }

(module
  (memory 512)
  (func (export "evil:memory-fill/t@0.1.0#run") (loop (memory.fill (i32.const 0) (i32.const 1) (i32.const 33554432)) (br 0))))
