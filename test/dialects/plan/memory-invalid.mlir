// RUN: effc-opt %s --split-input-file --verify-diagnostics

plan.entry @arena1_no_bytes kind decode rows 1 chunk 1 {
  // expected-error @+1 {{expects positive 'bytes' and an 'offset' that is a multiple of 64, but got 0 and 0}}
  %x = plan.arena bytes 0
}

// -----

plan.entry @arena1_offset kind decode rows 1 chunk 1 {
  // expected-error @+1 {{expects positive 'bytes' and an 'offset' that is a multiple of 64, but got 4 and 96}}
  %x = plan.arena bytes 4 offset 96
}

// -----

plan.entry @arena1_offset_below_0 kind decode rows 1 chunk 1 {
  // expected-error @+1 {{expects positive 'bytes' and an 'offset' that is a multiple of 64, but got 4 and -64}}
  %x = plan.arena bytes 4 offset -64
}

// -----

plan.entry @offset1 kind decode rows 1 chunk 1 {
  %x = plan.arena bytes 4
  // expected-error @+1 {{expects 'bytes' of at least 0, but got -4}}
  %y = plan.offset %x by -4
}
