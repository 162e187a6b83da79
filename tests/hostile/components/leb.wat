;; An endless LEB128 number.
;; publish: refused

(component binary "\00asm\0d\00\01\00" "\00\80\80\80\80\80\80\80\80\80\01")
