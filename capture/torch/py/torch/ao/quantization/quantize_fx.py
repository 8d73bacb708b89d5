from torch._absent import declare

declare("convert_fx", "convert_to_reference_fx", "fuse_fx", "prepare_fx", "prepare_qat_fx")
