import { expect, it } from 'vitest';
import { inSentence, kernelName } from './kernelName';

it('names of kernels are without their namespaces', () => {
  expect(
    kernelName(
      'void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::TensorListMetadata<1>, float>(at::native::(anonymous namespace)::TensorListMetadata<1>)',
    ),
  ).toBe('multi_tensor_apply_kernel<TensorListMetadata<1>, float>(TensorListMetadata<1>)');
  expect(kernelName('void cutlass::Kernel2<cutlass_80_simt_sgemm_64x64_8x5_nt_align1>(cutlass::Params)')).toBe(
    'Kernel2<cutlass_80_simt_sgemm_64x64_8x5_nt_align1>(Params)',
  );
  expect(kernelName('fmha_cutlassB_f32_aligned(PyTorchMemEffAttention::AttentionBackwardKernel<float>::Params)')).toBe(
    'fmha_cutlassB_f32_aligned(AttentionBackwardKernel<float>::Params)',
  );
});
it('all other names stay as they are', () => {
  for (const name of [
    'aten::mm',
    'c10d::allreduce_',
    'Memcpy HtoD (Pageable -> Device)',
    'torch/nn/modules/module.py(1783): _wrapped_call_impl',
    'PjRtStreamExecutorClient::CompileInternal',
    'sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3',
    'ProfilerStep#2',
    'vo\u0069d',
    '',
  ])
    expect(kernelName(name)).toBe(name);
});

it('names in sentences are cut where they are very long', () => {
  expect(inSentence('void at::native::fill<float>(at::Tensor)')).toBe('fill<float>(Tensor)');
  expect(inSentence('x'.repeat(80))).toBe('x'.repeat(80));
  expect(inSentence('🚀'.repeat(81))).toBe(`${'🚀'.repeat(79)}…`);
});
