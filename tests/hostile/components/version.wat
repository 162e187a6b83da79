;; A version that does not exist.
;; publish: refused

(component binary "\00asm\7f\00\01\00")
