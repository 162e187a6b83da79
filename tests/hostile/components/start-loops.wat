;; A start function that does not return.
;; status: limited
;; error: limit
;; message contains: time limit
;; wit: package evil:start-loops@0.1.0;
;; wit: interface t {
;; wit:   run: func();
;; wit: }
;; wit: world tool { export t; }

(module
  (func $start (loop (br 0)))
  (start $start)
  (func (export "evil:start-loops/t@0.1.0#run")))
