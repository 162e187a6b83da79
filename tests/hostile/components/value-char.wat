;; A surrogate as a character.
;; status: failed
;; error: tool
;; wit: package evil:value-char@0.1.0;
;; wit: interface t {
;; wit:   run: func() -> char;
;; wit: }
;; wit: world tool { export t; }

(module (func (export "evil:value-char/t@0.1.0#run") (result i32) (i32.const 0xd800)))
