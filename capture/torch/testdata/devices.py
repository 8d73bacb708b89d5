import torch
def t(n,f):
    try: print(n, repr(f()))
    except Exception as e: print(n, type(e).__name__, e)
c=torch.cuda
for n in "is_available is_initialized device_count current_device get_device_name get_device_properties get_device_capability empty_cache memory_allocated max_memory_allocated memory_reserved max_memory_reserved synchronize seed_all initial_seed get_rng_state is_bf16_supported ipc_collect current_stream get_arch_list mem_get_info memory_stats seed get_rng_state_all init".split(): t(n, lambda: getattr(c,n)())
t('msa',lambda:c.manual_seed_all(1)); t('dev',lambda:c.device(0).__enter__()); t('Event',lambda:c.Event(enable_timing=True)); t('Stream',lambda:c.Stream())
b=torch.backends
for n in "cudnn.is_available() cudnn.version() cudnn.enabled cudnn.benchmark cudnn.deterministic cudnn.allow_tf32 cuda.is_built() cuda.matmul.allow_tf32 cuda.flash_sdp_enabled() cuda.math_sdp_enabled() mps.is_available() mps.is_built() mkldnn.is_available() openmp.is_available()".split(): t(n, lambda: eval('b.'+n))
for n in "accelerator.is_available() accelerator.device_count() accelerator.current_accelerator() cpu.is_available() cpu.device_count() cpu.current_device() xpu.is_available() mtia.is_available() version.cuda get_default_device() cuda.FloatTensor cuda.FloatTensor(2)".split(): t(n, lambda: eval('torch.'+n))
t('cuda t', lambda: torch.ones(1).cuda())
t('s', lambda: torch.set_default_tensor_type('torch.LongTensor')); t('s', lambda: torch.set_default_tensor_type(torch.DoubleTensor)); print(torch.ones(1), torch.Tensor([1]).dtype); torch.set_default_tensor_type('torch.FloatTensor'); print(torch.ones(1), torch.Tensor([1]).dtype)
