;; A section of unknown type.
;; publish: refused

(component binary "\00asm\0d\00\01\00" "\7f\00")
