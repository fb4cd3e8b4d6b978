// RUN: effc-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expects 'offsets' to have one element for each of 2 kernels, but got 1}}
plan.binary @binary1_offsets isa "x86-64-v3" kernels ["a", "b"] offsets [0] stack_bytes [64, 64] code dense<1> : tensor<1xi8>

// -----

// expected-error @+1 {{expects 'stack_bytes' to have one element for each of 2 kernels, but got 3}}
plan.binary @binary1_stack_bytes isa "x86-64-v3" kernels ["a", "b"] offsets [0, 8] stack_bytes [64, 64, 64] code dense<1> : tensor<1xi8>

// -----

// expected-error @+1 {{expects 'box_maps' to have one element for each of 1 kernels, but got 2}}
plan.binary @binary1_box_maps isa "sm_90a" kernels ["a"] offsets [0] stack_bytes [64] box_maps [[], []] code dense<1> : tensor<1xi8>

// -----

// expected-error @+1 {{expects lists of #tile.box_map, but got 1}}
plan.binary @binary2 isa "sm_90a" kernels ["a"] offsets [0] stack_bytes [64] box_maps [1] code dense<1> : tensor<1xi8>
