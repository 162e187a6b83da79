(module (memory 1) (func (export "f")))
