;; A function whose code is shorter than its stated length.
;; publish: refused

(component binary "\00asm\0d\00\01\00" "\01\18\00asm\01\00\00\00\01\04\01\60\00\00\03\02\01\00\0a\04\01\7f\00\0b")
