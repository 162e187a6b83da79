;; Undefined flags, which the canonical ABI drops.
;; status: completed
;; value: ["read", "write"]
;; wit: package evil:value-flags@0.1.0;
;; wit: interface t {
;; wit:   flags rights { read, write }
;; wit:   run: func() -> rights;
;; wit: }
;; wit: world tool { export t; }

(module (func (export "evil:value-flags/t@0.1.0#run") (result i32) (i32.const -1)))
