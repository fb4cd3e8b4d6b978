// RUN: not effc-compile %goldens/mamba2/f32_plain -o %t.effc --force-form quadratic --prefill-rows 1024 2>&1 | FileCheck %s
// RUN: not ls %t.effc

// A block of 1024 tokens has three tiles of 1024 x 1024 f32, 4 MiB each, where a
// kernel may have 4 MiB in all. The loader would refuse the file; the compiler
// does not make it.
// CHECK: effc: error: layers.0.ssd: expects a kernel's tiles to fit 4194304 bytes of stack, but those of 'ssd_{{[0-9]+}}' take 12{{[0-9]+}}
// CHECK-NEXT: note: smaller prefill entries, chunks, heads or channels make smaller tiles
