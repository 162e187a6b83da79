;; A value above the range of a byte. The canonical ABI takes its lowest bits, or it is an error.
;; status: completed
;; value: 255
;; wit: package evil:value-u8@0.1.0;
;; wit: interface t {
;; wit:   run: func() -> u8;
;; wit: }
;; wit: world tool { export t; }

(module (func (export "evil:value-u8/t@0.1.0#run") (result i32) (i32.const 0x1ff)))
