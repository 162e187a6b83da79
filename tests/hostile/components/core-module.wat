;; A core module instead of a component.
;; publish: refused
;; message contains: core WebAssembly module

(module)
