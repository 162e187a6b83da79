;; An unknown version of the binary format.
;; publish: refused

(component binary "\00asm\7f\00\01\00")
