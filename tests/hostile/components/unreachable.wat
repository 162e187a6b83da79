;; A function that traps.
;; status: failed
;; error: tool
;; message contains: unreachable
;; wit: package evil:unreachable@0.1.0;
;; wit: interface t {
;; wit:   run: func();
;; wit: }
;; wit: world tool { export t; }

(module (func (export "evil:unreachable/t@0.1.0#run") unreachable))
