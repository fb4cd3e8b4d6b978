// RUN: effc-opt %s --seq-expand-form=form=step --split-input-file --verify-diagnostics

// What a written step may not do if its forms are to be derived; the note stands
// at the op that keeps it from being linear. 7 tokens, H, K, V = 4, 3, 4.

#h = affine_map<(h, k, v) -> (h)>
#key = affine_map<(h, k, v) -> (h, k)>
#value = affine_map<(h, k, v) -> (h, v)>
#state = affine_map<(h, k, v) -> (h, k, v)>
// A factor that may exceed 1.
func.func @decay_without_bound(%q0: tensor<7x4x3xf32>, %k0: tensor<7x4x3xf32>, %v0: tensor<7x4x4xf32>, %g0: tensor<7x4xf32>, %s0: tensor<4x3x4xf32>) -> tensor<7x4x4xf32> {
  // expected-error @+1 {{has no derived form: expects the class 'linear', 'retrieval' or 'window', but got 'opaque'}}
  %y, %last = seq.recurrence
      tokens(%q = %q0 : tensor<7x4x3xf32>, %k = %k0 : tensor<7x4x3xf32>, %v = %v0 : tensor<7x4x4xf32>, %g = %g0 : tensor<7x4xf32>)
      parameters() states(%s = %s0 : tensor<4x3x4xf32>) -> (tensor<7x4x4xf32>), (tensor<4x3x4xf32>) {
    // expected-note @+1 {{'seq.contract' scales the state by what is neither an exponential nor a constant in (0, 1], nor bound to lie in [0, 1]}}
    %kept = seq.contract %g, %s {indexing_maps = [#h, #state, #state]} : (tensor<4xf32>, tensor<4x3x4xf32>) -> tensor<4x3x4xf32>
    %written = seq.contract %k, %v {indexing_maps = [#key, #value, #state]} : (tensor<4x3xf32>, tensor<4x4xf32>) -> tensor<4x3x4xf32>
    %next = seq.add %kept, %written : tensor<4x3x4xf32>
    %read = seq.contract %q, %next {indexing_maps = [#key, #state, #value]} : (tensor<4x3xf32>, tensor<4x3x4xf32>) -> tensor<4x4xf32>
    seq.yield %read, %next : tensor<4x4xf32>, tensor<4x3x4xf32>
  }
  return %y : tensor<7x4x4xf32>
}

// -----

#h = affine_map<(h, k, v) -> (h)>
#key = affine_map<(h, k, v) -> (h, k)>
#value = affine_map<(h, k, v) -> (h, v)>
#state = affine_map<(h, k, v) -> (h, k, v)>
// A state that only fades.
func.func @nothing_written(%q0: tensor<7x4x3xf32>, %k0: tensor<7x4x3xf32>, %v0: tensor<7x4x4xf32>, %g0: tensor<7x4xf32>, %s0: tensor<4x3x4xf32>) -> tensor<7x4x4xf32> {
  // expected-error @+1 {{has no derived form: expects the class 'linear', 'retrieval' or 'window', but got 'opaque'}}
  %y, %last = seq.recurrence
      tokens(%q = %q0 : tensor<7x4x3xf32>, %k = %k0 : tensor<7x4x3xf32>, %v = %v0 : tensor<7x4x4xf32>, %g = %g0 : tensor<7x4xf32>)
      parameters() states(%s = %s0 : tensor<4x3x4xf32>) -> (tensor<7x4x4xf32>), (tensor<4x3x4xf32>) {
    %f = seq.sigmoid %g : tensor<4xf32>
    // expected-note @+1 {{'seq.contract' writes no product of a key and a value}}
    %next = seq.contract %f, %s {indexing_maps = [#h, #state, #state]} : (tensor<4xf32>, tensor<4x3x4xf32>) -> tensor<4x3x4xf32>
    %read = seq.contract %q, %next {indexing_maps = [#key, #state, #value]} : (tensor<4x3xf32>, tensor<4x3x4xf32>) -> tensor<4x4xf32>
    seq.yield %read, %next : tensor<4x4xf32>, tensor<4x3x4xf32>
  }
  return %y : tensor<7x4x4xf32>
}

// -----

#h = affine_map<(h, k, v) -> (h)>
#key = affine_map<(h, k, v) -> (h, k)>
#value = affine_map<(h, k, v) -> (h, v)>
#state = affine_map<(h, k, v) -> (h, k, v)>
// With H = V a transposed reading has the shape of a scaled one.
func.func @transposed_reading(%q0: tensor<7x4x3xf32>, %k0: tensor<7x4x3xf32>, %v0: tensor<7x4x4xf32>, %g0: tensor<7x4xf32>, %s0: tensor<4x3x4xf32>) -> tensor<7x4x4xf32> {
  // expected-error @+1 {{has no derived form: expects the class 'linear', 'retrieval' or 'window', but got 'opaque'}}
  %y, %last = seq.recurrence
      tokens(%q = %q0 : tensor<7x4x3xf32>, %k = %k0 : tensor<7x4x3xf32>, %v = %v0 : tensor<7x4x4xf32>, %g = %g0 : tensor<7x4xf32>)
      parameters() states(%s = %s0 : tensor<4x3x4xf32>) -> (tensor<7x4x4xf32>), (tensor<4x3x4xf32>) {
    %f = seq.sigmoid %g : tensor<4xf32>
    %kept = seq.contract %f, %s {indexing_maps = [#h, #state, #state]} : (tensor<4xf32>, tensor<4x3x4xf32>) -> tensor<4x3x4xf32>
    %seen = seq.contract %k, %kept {indexing_maps = [#key, #state, #value]} : (tensor<4x3xf32>, tensor<4x3x4xf32>) -> tensor<4x4xf32>
    // expected-note @+1 {{'seq.contract' scales what a probe reads by more than a number per head}}
    %turned = seq.contract %f, %seen {indexing_maps = [affine_map<(h, v) -> (h)>, affine_map<(h, v) -> (v, h)>, affine_map<(h, v) -> (h, v)>]} : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %error = seq.sub %v, %turned : tensor<4x4xf32>
    %written = seq.contract %k, %error {indexing_maps = [#key, #value, #state]} : (tensor<4x3xf32>, tensor<4x4xf32>) -> tensor<4x3x4xf32>
    %next = seq.add %kept, %written : tensor<4x3x4xf32>
    %read = seq.contract %q, %next {indexing_maps = [#key, #state, #value]} : (tensor<4x3xf32>, tensor<4x3x4xf32>) -> tensor<4x4xf32>
    seq.yield %read, %next : tensor<4x4xf32>, tensor<4x3x4xf32>
  }
  return %y : tensor<7x4x4xf32>
}

// -----

#h = affine_map<(h, k, v) -> (h)>
#key = affine_map<(h, k, v) -> (h, k)>
#value = affine_map<(h, k, v) -> (h, v)>
#state = affine_map<(h, k, v) -> (h, k, v)>
// A result that reads twice.
func.func @two_readings(%q0: tensor<7x4x3xf32>, %k0: tensor<7x4x3xf32>, %v0: tensor<7x4x4xf32>, %g0: tensor<7x4xf32>, %s0: tensor<4x3x4xf32>) -> tensor<7x4x4xf32> {
  // expected-error @+1 {{has no derived form: expects the class 'linear', 'retrieval' or 'window', but got 'opaque'}}
  %y, %last = seq.recurrence
      tokens(%q = %q0 : tensor<7x4x3xf32>, %k = %k0 : tensor<7x4x3xf32>, %v = %v0 : tensor<7x4x4xf32>, %g = %g0 : tensor<7x4xf32>)
      parameters() states(%s = %s0 : tensor<4x3x4xf32>) -> (tensor<7x4x4xf32>), (tensor<4x3x4xf32>) {
    %f = seq.sigmoid %g : tensor<4xf32>
    %kept = seq.contract %f, %s {indexing_maps = [#h, #state, #state]} : (tensor<4xf32>, tensor<4x3x4xf32>) -> tensor<4x3x4xf32>
    %written = seq.contract %k, %v {indexing_maps = [#key, #value, #state]} : (tensor<4x3xf32>, tensor<4x4xf32>) -> tensor<4x3x4xf32>
    %next = seq.add %kept, %written : tensor<4x3x4xf32>
    %read = seq.contract %q, %next {indexing_maps = [#key, #state, #value]} : (tensor<4x3xf32>, tensor<4x3x4xf32>) -> tensor<4x4xf32>
    // expected-note @+1 {{'seq.contract' reads the state a second time}}
    %again = seq.contract %k, %next {indexing_maps = [#key, #state, #value]} : (tensor<4x3xf32>, tensor<4x3x4xf32>) -> tensor<4x4xf32>
    %both = seq.add %again, %read : tensor<4x4xf32>
    seq.yield %both, %next : tensor<4x4xf32>, tensor<4x3x4xf32>
  }
  return %y : tensor<7x4x4xf32>
}

// -----

#h = affine_map<(h, k, v) -> (h)>
#key = affine_map<(h, k, v) -> (h, k)>
#value = affine_map<(h, k, v) -> (h, v)>
#state = affine_map<(h, k, v) -> (h, k, v)>
// A value that no token varies.
func.func @constant_value(%q0: tensor<7x4x3xf32>, %k0: tensor<7x4x3xf32>, %v0: tensor<7x4x4xf32>, %g0: tensor<7x4xf32>, %s0: tensor<4x3x4xf32>) -> tensor<7x4x4xf32> {
  // expected-error @+1 {{has no derived form: expects the class 'linear', 'retrieval' or 'window', but got 'opaque'}}
  %y, %last = seq.recurrence
      tokens(%q = %q0 : tensor<7x4x3xf32>, %k = %k0 : tensor<7x4x3xf32>, %v = %v0 : tensor<7x4x4xf32>, %g = %g0 : tensor<7x4xf32>)
      parameters() states(%s = %s0 : tensor<4x3x4xf32>) -> (tensor<7x4x4xf32>), (tensor<4x3x4xf32>) {
    %f = seq.sigmoid %g : tensor<4xf32>
    // expected-note @+1 {{'seq.constant' writes a value that does not vary with the token}}
    %one = seq.constant 1.0 : tensor<4x4xf32>
    %kept = seq.contract %f, %s {indexing_maps = [#h, #state, #state]} : (tensor<4xf32>, tensor<4x3x4xf32>) -> tensor<4x3x4xf32>
    %written = seq.contract %k, %one {indexing_maps = [#key, #value, #state]} : (tensor<4x3xf32>, tensor<4x4xf32>) -> tensor<4x3x4xf32>
    %next = seq.add %kept, %written : tensor<4x3x4xf32>
    %read = seq.contract %q, %next {indexing_maps = [#key, #state, #value]} : (tensor<4x3xf32>, tensor<4x3x4xf32>) -> tensor<4x4xf32>
    seq.yield %read, %next : tensor<4x4xf32>, tensor<4x3x4xf32>
  }
  return %y : tensor<7x4x4xf32>
}

// -----

#key = affine_map<(h, k, v) -> (h, k)>
#value = affine_map<(h, k, v) -> (h, v)>
#state = affine_map<(h, k, v) -> (h, k, v)>
// Two corrections of the same state, not of what the other one leaves.
func.func @side_by_side(%q0: tensor<7x4x3xf32>, %k0: tensor<7x4x3xf32>, %v0: tensor<7x4x4xf32>, %s0: tensor<4x3x4xf32>) -> tensor<7x4x4xf32> {
  // expected-error @+1 {{has no derived form: expects the class 'linear', 'retrieval' or 'window', but got 'opaque'}}
  %y, %last = seq.recurrence
      tokens(%q = %q0 : tensor<7x4x3xf32>, %k = %k0 : tensor<7x4x3xf32>, %v = %v0 : tensor<7x4x4xf32>)
      parameters() states(%s = %s0 : tensor<4x3x4xf32>) -> (tensor<7x4x4xf32>), (tensor<4x3x4xf32>) {
    %a = seq.contract %k, %s {indexing_maps = [#key, #state, #value]} : (tensor<4x3xf32>, tensor<4x3x4xf32>) -> tensor<4x4xf32>
    %b = seq.sub %v, %a : tensor<4x4xf32>
    %c = seq.contract %k, %b {indexing_maps = [#key, #value, #state]} : (tensor<4x3xf32>, tensor<4x4xf32>) -> tensor<4x3x4xf32>
    %d = seq.contract %q, %s {indexing_maps = [#key, #state, #value]} : (tensor<4x3xf32>, tensor<4x3x4xf32>) -> tensor<4x4xf32>
    %e = seq.sub %v, %d : tensor<4x4xf32>
    // expected-note @+1 {{'seq.contract' writes what a second probe reads}}
    %f = seq.contract %q, %e {indexing_maps = [#key, #value, #state]} : (tensor<4x3xf32>, tensor<4x4xf32>) -> tensor<4x3x4xf32>
    %half = seq.add %s, %c : tensor<4x3x4xf32>
    %next = seq.add %half, %f : tensor<4x3x4xf32>
    %read = seq.contract %q, %next {indexing_maps = [#key, #state, #value]} : (tensor<4x3xf32>, tensor<4x3x4xf32>) -> tensor<4x4xf32>
    seq.yield %read, %next : tensor<4x4xf32>, tensor<4x3x4xf32>
  }
  return %y : tensor<7x4x4xf32>
}

// -----

#key = affine_map<(h, k, v) -> (h, k)>
#value = affine_map<(h, k, v) -> (h, v)>
#state = affine_map<(h, k, v) -> (h, k, v)>
// Behind a correction what a probe reads goes along a key of its own.
func.func @erased_behind(%q0: tensor<7x4x3xf32>, %k0: tensor<7x4x3xf32>, %v0: tensor<7x4x4xf32>, %s0: tensor<4x3x4xf32>) -> tensor<7x4x4xf32> {
  // expected-error @+1 {{has no derived form: expects the class 'linear', 'retrieval' or 'window', but got 'opaque'}}
  %y, %last = seq.recurrence
      tokens(%q = %q0 : tensor<7x4x3xf32>, %k = %k0 : tensor<7x4x3xf32>, %v = %v0 : tensor<7x4x4xf32>)
      parameters() states(%s = %s0 : tensor<4x3x4xf32>) -> (tensor<7x4x4xf32>), (tensor<4x3x4xf32>) {
    %a = seq.contract %k, %s {indexing_maps = [#key, #state, #value]} : (tensor<4x3xf32>, tensor<4x3x4xf32>) -> tensor<4x4xf32>
    %b = seq.sub %v, %a : tensor<4x4xf32>
    %c = seq.contract %k, %b {indexing_maps = [#key, #value, #state]} : (tensor<4x3xf32>, tensor<4x4xf32>) -> tensor<4x3x4xf32>
    %half = seq.add %s, %c : tensor<4x3x4xf32>
    %d = seq.contract %k, %half {indexing_maps = [#key, #state, #value]} : (tensor<4x3xf32>, tensor<4x3x4xf32>) -> tensor<4x4xf32>
    // expected-note @+1 {{'seq.contract' writes what a probe reads along a key of its own, beside other products}}
    %f = seq.contract %q, %d {indexing_maps = [#key, #value, #state]} : (tensor<4x3xf32>, tensor<4x4xf32>) -> tensor<4x3x4xf32>
    %next = seq.add %half, %f : tensor<4x3x4xf32>
    %read = seq.contract %q, %next {indexing_maps = [#key, #state, #value]} : (tensor<4x3xf32>, tensor<4x3x4xf32>) -> tensor<4x4xf32>
    seq.yield %read, %next : tensor<4x4xf32>, tensor<4x3x4xf32>
  }
  return %y : tensor<7x4x4xf32>
}

// -----

#key = affine_map<(h, k, v) -> (h, k)>
#value = affine_map<(h, k, v) -> (h, v)>
#state = affine_map<(h, k, v) -> (h, k, v)>
// A product without a probe beside corrections.
func.func @written_behind(%q0: tensor<7x4x3xf32>, %k0: tensor<7x4x3xf32>, %v0: tensor<7x4x4xf32>, %s0: tensor<4x3x4xf32>) -> tensor<7x4x4xf32> {
  // expected-error @+1 {{has no derived form: expects the class 'linear', 'retrieval' or 'window', but got 'opaque'}}
  %y, %last = seq.recurrence
      tokens(%q = %q0 : tensor<7x4x3xf32>, %k = %k0 : tensor<7x4x3xf32>, %v = %v0 : tensor<7x4x4xf32>)
      parameters() states(%s = %s0 : tensor<4x3x4xf32>) -> (tensor<7x4x4xf32>), (tensor<4x3x4xf32>) {
    %a = seq.contract %k, %s {indexing_maps = [#key, #state, #value]} : (tensor<4x3xf32>, tensor<4x3x4xf32>) -> tensor<4x4xf32>
    %b = seq.sub %v, %a : tensor<4x4xf32>
    %c = seq.contract %k, %b {indexing_maps = [#key, #value, #state]} : (tensor<4x3xf32>, tensor<4x4xf32>) -> tensor<4x3x4xf32>
    %half = seq.add %s, %c : tensor<4x3x4xf32>
    %d = seq.contract %q, %half {indexing_maps = [#key, #state, #value]} : (tensor<4x3xf32>, tensor<4x3x4xf32>) -> tensor<4x4xf32>
    %e = seq.sub %v, %d : tensor<4x4xf32>
    %f = seq.contract %q, %e {indexing_maps = [#key, #value, #state]} : (tensor<4x3xf32>, tensor<4x4xf32>) -> tensor<4x3x4xf32>
    // expected-note @+1 {{'seq.contract' writes a product with a probe beside one without}}
    %g = seq.contract %k, %v {indexing_maps = [#key, #value, #state]} : (tensor<4x3xf32>, tensor<4x4xf32>) -> tensor<4x3x4xf32>
    %more = seq.add %half, %f : tensor<4x3x4xf32>
    %next = seq.add %more, %g : tensor<4x3x4xf32>
    %read = seq.contract %q, %next {indexing_maps = [#key, #state, #value]} : (tensor<4x3xf32>, tensor<4x3x4xf32>) -> tensor<4x4xf32>
    seq.yield %read, %next : tensor<4x4xf32>, tensor<4x3x4xf32>
  }
  return %y : tensor<7x4x4xf32>
}
