(component (type $t (record (field "a" u8))) (export "t" (type $t)))
