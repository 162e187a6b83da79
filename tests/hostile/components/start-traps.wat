;; A start function that traps.
;; status: failed
;; error: tool
;; message contains: trapped
;; wit: package evil:start-traps@0.1.0;
;; wit: interface t {
;; wit:   run: func();
;; wit: }
;; wit: world tool { export t; }

(module
  (func $start unreachable)
  (start $start)
  (func (export "evil:start-traps/t@0.1.0#run")))
