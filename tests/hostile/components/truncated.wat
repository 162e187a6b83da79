;; A section that ends before its stated length.
;; publish: refused

(component binary "\00asm\0d\00\01\00" "\01\40\00asm\01\00")
