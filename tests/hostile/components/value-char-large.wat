;; A character above the largest code point.
;; status: failed
;; error: tool
;; wit: package evil:value-char-large@0.1.0;
;; wit: interface t {
;; wit:   run: func() -> char;
;; wit: }
;; wit: world tool { export t; }

(module (func (export "evil:value-char-large/t@0.1.0#run") (result i32) (i32.const 0x110000)))
