;; A core module is no component.
;; publish: refused
;; message contains: core WebAssembly module

(module)
