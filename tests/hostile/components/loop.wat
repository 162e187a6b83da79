;; A function that does not return, until the time limit of the run ends it.
;; status: limited
;; error: limit
;; calls: cancelled
;; message contains: time limit
;; wit: package evil:loop@0.1.0;
;; wit: interface t {
;; wit:   run: func();
;; wit: }
;; wit: world tool { export t; }

(module (func (export "evil:loop/t@0.1.0#run") (loop (br 0))))
