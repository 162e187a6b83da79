;; A function that calls itself.
;; status: failed
;; error: tool
;; message contains: recursed too deeply
;; wit: package evil:recursion@0.1.0;
;; wit: interface t {
;; wit:   run: func();
;; wit: }
;; wit: world tool { export t; }

(module (func $f (export "evil:recursion/t@0.1.0#run") (call $f) (call $f)))
