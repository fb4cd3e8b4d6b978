// RUN: effc-opt %s --seq-form-kernels=convolution-prologues=true --split-input-file --verify-diagnostics | FileCheck %s
// RUN: effc-opt %s --seq-form-kernels --split-input-file 2>/dev/null | FileCheck %s --check-prefix=APART

// Of 34 channels the first 30 are values of 6 heads x 5, of which each is one
// item's; keys and queries are read by all 6. The convolution of these 4 leaves
// a tail of which the recurrence's kernel takes the other 30.

// CHECK-LABEL: func.func @values_first
// CHECK-SAME: %[[IN:[^:]*]]: tensor<?x40xf32>, %[[W:[^:]*]]: tensor<4x34xf32>, %[[B:[^:]*]]: tensor<34xf32>
// CHECK: %[[REST:.*]]:2 = seq.kernel "short_convolution" (%[[IN0:.*]] = %[[IN]] : {{.*}}, %[[W0:.*]] = %[[W]] : {{.*}}, %[[B0:.*]] = %[[B]] : {{.*}}, %[[T0:.*]] = %{{.*}} : tensor<3x34xf32>)
// CHECK: %[[U0:.*]] = seq.slice %[[IN0]] {axis = 1 : i64, offset = 6 : i64, size = 34 : i64}
// CHECK: %[[X0:.*]] = seq.slice %[[U0]] {axis = 1 : i64, offset = 30 : i64, size = 4 : i64}
// CHECK-DAG: %[[W1:.*]] = seq.slice %[[W0]] {axis = 1 : i64, offset = 30 : i64, size = 4 : i64}
// CHECK-DAG: %[[B1:.*]] = seq.slice %[[B0]] {axis = 0 : i64, offset = 30 : i64, size = 4 : i64}
// CHECK: seq.short_convolution %[[X0]] parameters(%[[W1]], %[[B1]]) state(%[[T0]]) {activation = #seq.activation<silu>, first_channel = 30 : i64}
// CHECK: %[[ALL:.*]]:3 = seq.kernel "layers.0.ssd" (
// CHECK-SAME: = %[[REST]]#1 : tensor<3x34xf32>
// CHECK: %[[CONVOLVED:.*]], %[[TAIL:.*]] = seq.short_convolution {{.*}} {activation = #seq.activation<silu>, first_channel = 0 : i64} : tensor<?x30xf32>, (tensor<4x30xf32>, tensor<30xf32>), tensor<3x34xf32>
// CHECK: %[[VALUES:.*]] = seq.reshape %[[CONVOLVED]]
// CHECK: seq.ssd %[[VALUES]]
// CHECK: seq.yield {{.*}}%[[TAIL]]

// APART-LABEL: func.func @values_first
// APART: seq.kernel "short_convolution"
// APART-NOT: first_channel
// APART: seq.kernel "layers.0.ssd"
func.func @values_first(%in: tensor<?x40xf32>, %w: tensor<4x34xf32>, %bias: tensor<34xf32>, %h: tensor<6xf32>,
    %s: tensor<6x2x5xf32>, %t: tensor<3x34xf32>) -> (tensor<?x30xf32>, tensor<6x2x5xf32>, tensor<3x34xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>} {
  %dt = seq.slice %in {axis = 1 : i64, offset = 0 : i64, size = 6 : i64} : tensor<?x40xf32> -> tensor<?x6xf32>
  %u = seq.slice %in {axis = 1 : i64, offset = 6 : i64, size = 34 : i64} : tensor<?x40xf32> -> tensor<?x34xf32>
  // expected-remark @+3 {{fused into kernel 'layers.0.ssd' as its prologue}}
  // expected-remark @+2 {{channels 30 to 31 are convolved in a launch of their own: they are not values of 'layers.0.ssd', of which at least 6 items read each}}
  // expected-remark @+1 {{channels 32 to 33 are convolved in a launch of their own: they are not values of 'layers.0.ssd', of which at least 6 items read each}}
  %c, %next_t = seq.short_convolution %u parameters(%w, %bias) state(%t) {activation = #seq.activation<silu>}
      : tensor<?x34xf32>, (tensor<4x34xf32>, tensor<34xf32>), tensor<3x34xf32>
  %x0 = seq.slice %c {axis = 1 : i64, offset = 0 : i64, size = 30 : i64} : tensor<?x34xf32> -> tensor<?x30xf32>
  %b0 = seq.slice %c {axis = 1 : i64, offset = 30 : i64, size = 2 : i64} : tensor<?x34xf32> -> tensor<?x2xf32>
  %c0 = seq.slice %c {axis = 1 : i64, offset = 32 : i64, size = 2 : i64} : tensor<?x34xf32> -> tensor<?x2xf32>
  %x = seq.reshape %x0 : tensor<?x30xf32> -> tensor<?x6x5xf32>
  %b = seq.reshape %b0 : tensor<?x2xf32> -> tensor<?x1x2xf32>
  %q = seq.reshape %c0 : tensor<?x2xf32> -> tensor<?x1x2xf32>
  %y, %next = seq.ssd %x, %dt, %b, %q parameters(%h, %h, %h) state(%s) {form = #seq.form<kind = chunkwise, chunk = 8>}
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x1x2xf32>, tensor<?x1x2xf32>),
        (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>), tensor<6x2x5xf32> loc("layers.0.ssd")
  %y0 = seq.reshape %y : tensor<?x6x5xf32> -> tensor<?x30xf32>
  return %y0, %next, %next_t : tensor<?x30xf32>, tensor<6x2x5xf32>, tensor<3x34xf32>
}

// -----

// A convolution of nothing but values is the kernel's as a whole; that of keys,
// whose shape is the same, is not.
// CHECK-LABEL: func.func @own_convolutions
// CHECK: seq.kernel "short_convolution"
// CHECK: seq.short_convolution
// CHECK: seq.kernel "layers.0.mixer"
// CHECK: seq.short_convolution
// CHECK-NOT: first_channel
// CHECK: seq.retention
func.func @own_convolutions(%q0: tensor<?x6xf32>, %k0: tensor<?x6xf32>, %v0: tensor<?x6xf32>, %w: tensor<3x6xf32>,
    %s: tensor<2x3x3xf32>, %tk: tensor<2x6xf32>, %tv: tensor<2x6xf32>, %rate: tensor<2xf32>)
    -> (tensor<?x2x3xf32>, tensor<2x3x3xf32>, tensor<2x6xf32>, tensor<2x6xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>} {
  // expected-remark @+1 {{channels 0 to 5 are convolved in a launch of their own: they are not values of 'layers.0.mixer'}}
  %kc, %next_k = seq.short_convolution %k0 parameters(%w) state(%tk) : tensor<?x6xf32>, (tensor<3x6xf32>), tensor<2x6xf32>
  // expected-remark @+1 {{fused into kernel 'layers.0.mixer' as its prologue}}
  %vc, %next_v = seq.short_convolution %v0 parameters(%w) state(%tv) : tensor<?x6xf32>, (tensor<3x6xf32>), tensor<2x6xf32>
  %q = seq.reshape %q0 : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %k = seq.reshape %kc : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %v = seq.reshape %vc : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %y, %next = seq.retention %q, %k, %v parameters(%rate) state(%s)
      {scale = 0.5 : f64, form = #seq.form<kind = chunkwise, chunk = 8>}
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<2xf32>, tensor<2x3x3xf32>)
      -> (tensor<?x2x3xf32>, tensor<2x3x3xf32>) loc("layers.0.mixer")
  return %y, %next, %next_k, %next_v : tensor<?x2x3xf32>, tensor<2x3x3xf32>, tensor<2x6xf32>, tensor<2x6xf32>
}

// -----

// What others read as well is in memory anyway.
// CHECK-LABEL: func.func @read_elsewhere
// CHECK: seq.kernel "short_convolution"
// CHECK: seq.kernel "layers.0.mixer"
// CHECK-NOT: seq.short_convolution
// CHECK: seq.retention
func.func @read_elsewhere(%q0: tensor<?x6xf32>, %v0: tensor<?x6xf32>, %w: tensor<3x6xf32>,
    %s: tensor<2x3x3xf32>, %tv: tensor<2x6xf32>, %rate: tensor<2xf32>)
    -> (tensor<?x6xf32>, tensor<2x3x3xf32>, tensor<2x6xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>} {
  // expected-remark @+1 {{channels 0 to 5 are convolved in a launch of their own: 'seq.mul' reads them too}}
  %vc, %next_v = seq.short_convolution %v0 parameters(%w) state(%tv) : tensor<?x6xf32>, (tensor<3x6xf32>), tensor<2x6xf32>
  %q = seq.reshape %q0 : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %v = seq.reshape %vc : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %y, %next = seq.retention %q, %q, %v parameters(%rate) state(%s)
      {scale = 0.5 : f64, form = #seq.form<kind = chunkwise, chunk = 8>}
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<2xf32>, tensor<2x3x3xf32>)
      -> (tensor<?x2x3xf32>, tensor<2x3x3xf32>) loc("layers.0.mixer")
  %y0 = seq.reshape %y : tensor<?x2x3xf32> -> tensor<?x6xf32>
  %gated = seq.mul %y0, %vc : tensor<?x6xf32>
  return %gated, %next, %next_v : tensor<?x6xf32>, tensor<2x3x3xf32>, tensor<2x6xf32>
}

// -----

// A token for each value is also a key: each head's items read all of it.
// CHECK-LABEL: func.func @keys_are_values
// CHECK: seq.kernel "layers.0.mixer"
// CHECK-NOT: seq.short_convolution
// CHECK: seq.retention
func.func @keys_are_values(%q0: tensor<?x6xf32>, %v0: tensor<?x6xf32>, %w: tensor<3x6xf32>,
    %s: tensor<2x3x3xf32>, %tv: tensor<2x6xf32>, %rate: tensor<2xf32>)
    -> (tensor<?x2x3xf32>, tensor<2x3x3xf32>, tensor<2x6xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>} {
  // expected-remark @+2 {{they are not values of 'layers.0.mixer'}}
  // expected-remark @+1 {{channels 0 to 5 are convolved in a launch of their own: 'layers.0.mixer' reads them too}}
  %vc, %next_v = seq.short_convolution %v0 parameters(%w) state(%tv) : tensor<?x6xf32>, (tensor<3x6xf32>), tensor<2x6xf32>
  %q = seq.reshape %q0 : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %v = seq.reshape %vc : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %y, %next = seq.retention %q, %v, %v parameters(%rate) state(%s)
      {scale = 0.5 : f64, form = #seq.form<kind = chunkwise, chunk = 8>}
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<2xf32>, tensor<2x3x3xf32>)
      -> (tensor<?x2x3xf32>, tensor<2x3x3xf32>) loc("layers.0.mixer")
  return %y, %next, %next_v : tensor<?x2x3xf32>, tensor<2x3x3xf32>, tensor<2x6xf32>
}

// -----

// Values and keys are other views of the same channels.
// CHECK-LABEL: func.func @other_views
// CHECK: seq.kernel "layers.0.mixer"
// CHECK-NOT: seq.short_convolution
// CHECK: seq.ssd
func.func @other_views(%in: tensor<?x8xf32>, %w: tensor<3x6xf32>, %h: tensor<2xf32>, %s: tensor<2x6x3xf32>,
    %t: tensor<2x6xf32>) -> (tensor<?x2x3xf32>, tensor<2x6x3xf32>, tensor<2x6xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>} {
  %u = seq.slice %in {axis = 1 : i64, offset = 0 : i64, size = 6 : i64} : tensor<?x8xf32> -> tensor<?x6xf32>
  %dt = seq.slice %in {axis = 1 : i64, offset = 6 : i64, size = 2 : i64} : tensor<?x8xf32> -> tensor<?x2xf32>
  // expected-remark @+2 {{they are not values of 'layers.0.mixer', of which at least 2 items read each}}
  // expected-remark @+1 {{channels 0 to 5 are convolved in a launch of their own: 'layers.0.mixer' reads them too}}
  %c, %next_t = seq.short_convolution %u parameters(%w) state(%t) : tensor<?x6xf32>, (tensor<3x6xf32>), tensor<2x6xf32>
  %x = seq.reshape %c : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %b = seq.reshape %c : tensor<?x6xf32> -> tensor<?x1x6xf32>
  %q = seq.reshape %u : tensor<?x6xf32> -> tensor<?x1x6xf32>
  %y, %next = seq.ssd %x, %dt, %b, %q parameters(%h, %h, %h) state(%s) {form = #seq.form<kind = chunkwise, chunk = 8>}
      : (tensor<?x2x3xf32>, tensor<?x2xf32>, tensor<?x1x6xf32>, tensor<?x1x6xf32>),
        (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>), tensor<2x6x3xf32> loc("layers.0.mixer")
  return %y, %next, %next_t : tensor<?x2x3xf32>, tensor<2x6x3xf32>, tensor<2x6xf32>
}

// -----

// Equal views that nothing has made one, of which a key has the other.
// CHECK-LABEL: func.func @equal_views
// CHECK: seq.kernel "layers.0.mixer"
// CHECK-NOT: seq.short_convolution
// CHECK: seq.retention
func.func @equal_views(%q0: tensor<?x6xf32>, %v0: tensor<?x6xf32>, %w: tensor<3x6xf32>,
    %s: tensor<2x3x3xf32>, %tv: tensor<2x6xf32>, %rate: tensor<2xf32>)
    -> (tensor<?x2x3xf32>, tensor<2x3x3xf32>, tensor<2x6xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>} {
  // expected-remark @+2 {{they are not values of 'layers.0.mixer'}}
  // expected-remark @+1 {{channels 0 to 5 are convolved in a launch of their own: 'layers.0.mixer' reads them too}}
  %vc, %next_v = seq.short_convolution %v0 parameters(%w) state(%tv) : tensor<?x6xf32>, (tensor<3x6xf32>), tensor<2x6xf32>
  %q = seq.reshape %q0 : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %k = seq.reshape %vc : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %v = seq.reshape %vc : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %y, %next = seq.retention %q, %k, %v parameters(%rate) state(%s)
      {scale = 0.5 : f64, form = #seq.form<kind = chunkwise, chunk = 8>}
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<2xf32>, tensor<2x3x3xf32>)
      -> (tensor<?x2x3xf32>, tensor<2x3x3xf32>) loc("layers.0.mixer")
  return %y, %next, %next_v : tensor<?x2x3xf32>, tensor<2x3x3xf32>, tensor<2x6xf32>
}

// -----

// Channels on either side would be two launches. A time loop takes nothing in.
// CHECK-LABEL: func.func @values_between
// CHECK: seq.kernel "layers.0.mixer"
// CHECK-NOT: seq.short_convolution
// CHECK: seq.retention
// CHECK: seq.kernel "layers.1.mixer"
// CHECK-NOT: seq.short_convolution
// CHECK: seq.retention
func.func @values_between(%u: tensor<?x18xf32>, %w: tensor<3x18xf32>, %s: tensor<2x3x3xf32>,
    %s1: tensor<2x3x3xf32>, %t: tensor<2x18xf32>, %t1: tensor<2x18xf32>, %rate: tensor<2xf32>)
    -> (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<2x3x3xf32>, tensor<2x3x3xf32>, tensor<2x18xf32>, tensor<2x18xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>} {
  // expected-remark @+3 {{channels 0 to 5 are convolved in a launch of their own: they are not values of 'layers.0.mixer'}}
  // expected-remark @+2 {{channels 12 to 17 are convolved in a launch of their own: they are not values of 'layers.0.mixer'}}
  // expected-remark @+1 {{channels 6 to 11 are convolved in a launch of their own: there are others on either side of them}}
  %c, %next_t = seq.short_convolution %u parameters(%w) state(%t) : tensor<?x18xf32>, (tensor<3x18xf32>), tensor<2x18xf32>
  %q0 = seq.slice %c {axis = 1 : i64, offset = 0 : i64, size = 6 : i64} : tensor<?x18xf32> -> tensor<?x6xf32>
  %v0 = seq.slice %c {axis = 1 : i64, offset = 6 : i64, size = 6 : i64} : tensor<?x18xf32> -> tensor<?x6xf32>
  %k0 = seq.slice %c {axis = 1 : i64, offset = 12 : i64, size = 6 : i64} : tensor<?x18xf32> -> tensor<?x6xf32>
  %q = seq.reshape %q0 : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %v = seq.reshape %v0 : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %k = seq.reshape %k0 : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %y, %next = seq.retention %q, %k, %v parameters(%rate) state(%s)
      {scale = 0.5 : f64, form = #seq.form<kind = chunkwise, chunk = 8>}
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<2xf32>, tensor<2x3x3xf32>)
      -> (tensor<?x2x3xf32>, tensor<2x3x3xf32>) loc("layers.0.mixer")
  // expected-remark @+1 {{channels 0 to 17 are convolved in a launch of their own: no recurrence in chunks takes them as its values}}
  %c1, %next_t1 = seq.short_convolution %u parameters(%w) state(%t1) : tensor<?x18xf32>, (tensor<3x18xf32>), tensor<2x18xf32>
  %v1 = seq.slice %c1 {axis = 1 : i64, offset = 0 : i64, size = 6 : i64} : tensor<?x18xf32> -> tensor<?x6xf32>
  %v2 = seq.reshape %v1 : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %y1, %next1 = seq.retention %q, %k, %v2 parameters(%rate) state(%s1) {scale = 0.5 : f64, form = #seq.form<kind = step>}
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<2xf32>, tensor<2x3x3xf32>)
      -> (tensor<?x2x3xf32>, tensor<2x3x3xf32>) loc("layers.1.mixer")
  return %y, %y1, %next, %next1, %next_t, %next_t1
      : tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<2x3x3xf32>, tensor<2x3x3xf32>, tensor<2x18xf32>, tensor<2x18xf32>
}

// -----

// What a step of decode has is its product's.
// CHECK-LABEL: func.func @decode
// CHECK: seq.kernel "short_convolution"
// CHECK: seq.kernel "layers.0.mixer"
func.func @decode(%q0: tensor<?x6xf32>, %v0: tensor<?x6xf32>, %w: tensor<3x6xf32>,
    %s: tensor<2x3x3xf32>, %tv: tensor<2x6xf32>, %rate: tensor<2xf32>)
    -> (tensor<?x2x3xf32>, tensor<2x3x3xf32>, tensor<2x6xf32>)
    attributes {seq.entry = #seq.entry<kind = decode, rows = 4>} {
  %vc, %next_v = seq.short_convolution %v0 parameters(%w) state(%tv) : tensor<?x6xf32>, (tensor<3x6xf32>), tensor<2x6xf32>
  %q = seq.reshape %q0 : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %v = seq.reshape %vc : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %y, %next = seq.retention %q, %q, %v parameters(%rate) state(%s)
      {scale = 0.5 : f64, form = #seq.form<kind = step>}
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<2xf32>, tensor<2x3x3xf32>)
      -> (tensor<?x2x3xf32>, tensor<2x3x3xf32>) loc("layers.0.mixer")
  return %y, %next, %next_v : tensor<?x2x3xf32>, tensor<2x3x3xf32>, tensor<2x6xf32>
}
