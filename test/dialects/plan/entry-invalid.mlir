// RUN: effc-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expects 'rows' to be a positive multiple of 'chunk', but got 0 and 1}}
plan.entry @plan_entry1_no_rows kind decode rows 0 chunk 1 {
}

// -----

// expected-error @+1 {{expects 'rows' to be a positive multiple of 'chunk', but got 4 and 0}}
plan.entry @plan_entry1_no_chunk kind decode rows 4 chunk 0 {
}

// -----

// expected-error @+1 {{expects 'rows' to be a positive multiple of 'chunk', but got 20 and 8}}
plan.entry @plan_entry1_chunk_that_does_not_divide kind prefill rows 20 chunk 8 {
}
