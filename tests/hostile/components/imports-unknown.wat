;; A call of an import that the host does not provide.
;; status: failed
;; error: tool
;; wit: package evil:imports-unknown@0.1.0;
;; wit: interface t {
;; wit:   run: func();
;; wit: }
;; wit: package evil:host@0.1.0 { interface root { become-root: func(); } }
;; wit: world tool { import evil:host/root@0.1.0; export t; }

(module
  (import "evil:host/root@0.1.0" "become-root" (func $root))
  (func (export "evil:imports-unknown/t@0.1.0#run") (call $root)))
