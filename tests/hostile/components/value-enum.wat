;; An enum value beyond its cases.
;; status: failed
;; error: tool
;; wit: package evil:value-enum@0.1.0;
;; wit: interface t {
;; wit:   enum color { red, green, blue }
;; wit:   run: func() -> color;
;; wit: }
;; wit: world tool { export t; }

(module (func (export "evil:value-enum/t@0.1.0#run") (result i32) (i32.const 3)))
