// RUN: effc-opt %s --convert-seq-to-tile --split-input-file --verify-diagnostics

// expected-error @+1 {{expects 'seq.state_layout' on the module; run seq-plan-state first}}
module {
}

// -----

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>} {
func.func @op_outside_kernel(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x5xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %table = seq.parameter @table : tensor<11x5xf32>
  // expected-error @+1 {{'seq.embedding' op stands outside of a seq.kernel}}
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x5xf32>) -> tensor<?x5xf32>
  return %x : tensor<?x5xf32>
}
seq.weight @table source("table") : tensor<11x5xf32>
}

// -----

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>} {
// expected-error @+1 {{expects argument 2 to be a state with a name}}
func.func @argument_without_name(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %s: tensor<2x5xf32>) -> tensor<2x5xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  return %s : tensor<2x5xf32>
}
}

// -----

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 128, states = [
    <name = "ssd", kind = matrix, growth = fixed, type = tensor<2x3x5xf32>, neutral = 0.0 : f32, offset = 0>]>} {
func.func @mixer_without_form(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %s: tensor<2x3x5xf32> {seq.state_name = "ssd"})
    -> (tensor<1x2x5xf32>, tensor<2x3x5xf32>) attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %x = seq.parameter @x : tensor<1x2x5xf32>
  %dt = seq.parameter @dt : tensor<1x2xf32>
  %b = seq.parameter @b : tensor<1x1x3xf32>
  %h = seq.parameter @h : tensor<2xf32>
  %y, %n = seq.kernel "ssd" (%kx = %x : tensor<1x2x5xf32>, %kdt = %dt : tensor<1x2xf32>, %kb = %b : tensor<1x1x3xf32>,
                             %kh = %h : tensor<2xf32>, %ks = %s : tensor<2x3x5xf32>) -> (tensor<1x2x5xf32>, tensor<2x3x5xf32>) attributes {root = 0 : i64} {
    // expected-error @+1 {{'seq.ssd' op expects a form; run seq-choose-forms first}}
    %ky, %kn = seq.ssd %kx, %kdt, %kb, %kb parameters(%kh, %kh, %kh) state(%ks)
        : (tensor<1x2x5xf32>, tensor<1x2xf32>, tensor<1x1x3xf32>, tensor<1x1x3xf32>),
          (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>), tensor<2x3x5xf32>
    seq.yield %ky, %kn : tensor<1x2x5xf32>, tensor<2x3x5xf32>
  }
  return %y, %n : tensor<1x2x5xf32>, tensor<2x3x5xf32>
}
seq.weight @x source("x") : tensor<1x2x5xf32>
seq.weight @dt source("dt") : tensor<1x2xf32>
seq.weight @b source("b") : tensor<1x1x3xf32>
seq.weight @h source("h") : tensor<2xf32>
}

// -----

// A slice of an inner axis leaves gaps between the heads of a row.
module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>} {
func.func @gaps(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x4xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %table = seq.parameter @table : tensor<11x6xf32>
  %x = seq.kernel "embedding" (%kt = %tokens : tensor<?xi32>, %kw = %table : tensor<11x6xf32>) -> (tensor<?x6xf32>) attributes {root = 0 : i64} {
    %kx = seq.embedding %kt, %kw : (tensor<?xi32>, tensor<11x6xf32>) -> tensor<?x6xf32>
    seq.yield %kx : tensor<?x6xf32>
  }
  %y = seq.kernel "exp" (%kx = %x : tensor<?x6xf32>) -> (tensor<?x4xf32>) {
    %heads = seq.reshape %kx : tensor<?x6xf32> -> tensor<?x2x3xf32>
    %part = seq.slice %heads {axis = 2 : i64, offset = 0 : i64, size = 2 : i64} : tensor<?x2x3xf32> -> tensor<?x2x2xf32>
    // expected-error @+1 {{reads channels that do not lie densely, which no kernel can}}
    %flat = seq.reshape %part : tensor<?x2x2xf32> -> tensor<?x4xf32>
    %ky = seq.exp %flat : tensor<?x4xf32>
    seq.yield %ky : tensor<?x4xf32>
  }
  return %y : tensor<?x4xf32>
}
seq.weight @table source("table") : tensor<11x6xf32>
}

// -----

// The numbers of a column lie a row apart each.
module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>} {
func.func @column(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x6xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %table = seq.parameter @table : tensor<11x6xf32>
  %numbers = seq.parameter @numbers : tensor<6x1xf32>
  %x = seq.kernel "embedding" (%kt = %tokens : tensor<?xi32>, %kw = %table : tensor<11x6xf32>) -> (tensor<?x6xf32>) attributes {root = 0 : i64} {
    %kx = seq.embedding %kt, %kw : (tensor<?xi32>, tensor<11x6xf32>) -> tensor<?x6xf32>
    seq.yield %kx : tensor<?x6xf32>
  }
  // expected-error @+1 {{reads elements that lie 16 apart as one row, which no kernel of the host can}}
  %y = seq.kernel "add" (%kx = %x : tensor<?x6xf32>, %kn = %numbers : tensor<6x1xf32>) -> (tensor<?x6xf32>) {
    %vector = seq.reshape %kn : tensor<6x1xf32> -> tensor<6xf32>
    %each = seq.broadcast %vector along %kx {dimensions = array<i64: 1>} : tensor<6xf32>, tensor<?x6xf32>
    %ky = seq.add %kx, %each : tensor<?x6xf32>
    seq.yield %ky : tensor<?x6xf32>
  }
  return %y : tensor<?x6xf32>
}
seq.weight @table source("table") : tensor<11x6xf32>
seq.weight @numbers source("numbers") : tensor<6x1xf32>
}

// -----

// A tile has two dimensions: a step whose heads keep a cube has no place on it.
#cube = affine_map<(h, i, j, k) -> (h, i, j, k)>
#i = affine_map<(h, i, j, k) -> (h, i)>
module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 896, states = [
    <name = "cube", kind = matrix, growth = fixed, type = tensor<2x3x5x7xf32>, neutral = 0.0 : f32, offset = 0>]>} {
func.func @cube(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %s: tensor<2x3x5x7xf32> {seq.state_name = "cube"})
    -> (tensor<?x2x3xf32>, tensor<2x3x5x7xf32>) attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %table = seq.parameter @table : tensor<11x6xf32>
  %x = seq.kernel "embedding" (%kt = %tokens : tensor<?xi32>, %kw = %table : tensor<11x6xf32>) -> (tensor<?x6xf32>) attributes {root = 0 : i64} {
    %kx = seq.embedding %kt, %kw : (tensor<?xi32>, tensor<11x6xf32>) -> tensor<?x6xf32>
    seq.yield %kx : tensor<?x6xf32>
  }
  %y, %n = seq.kernel "cube" (%kx = %x : tensor<?x6xf32>, %ks = %s : tensor<2x3x5x7xf32>) -> (tensor<?x2x3xf32>, tensor<2x3x5x7xf32>) attributes {root = 1 : i64} {
    %kr = seq.reshape %kx : tensor<?x6xf32> -> tensor<?x2x3xf32>
    // expected-error @+1 {{has a step without a translation to tiles, which have two dimensions: expects heads that do not meet, or states of at most two dimensions}}
    %ky, %kn = seq.recurrence tokens(%xt = %kr : tensor<?x2x3xf32>) parameters() states(%st = %ks : tensor<2x3x5x7xf32>)
        -> (tensor<?x2x3xf32>), (tensor<2x3x5x7xf32>) attributes {form = #seq.form<kind = step>} {
      %new = seq.contract %xt, %st {indexing_maps = [#i, #cube, #cube]} : (tensor<2x3xf32>, tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
      seq.yield %xt, %new : tensor<2x3xf32>, tensor<2x3x5x7xf32>
    }
    seq.yield %ky, %kn : tensor<?x2x3xf32>, tensor<2x3x5x7xf32>
  }
  return %y, %n : tensor<?x2x3xf32>, tensor<2x3x5x7xf32>
}
seq.weight @table source("table") : tensor<11x6xf32>
}

// -----

// Heads that meet as a whole, where what they keep is a matrix each.
#m = affine_map<(g, h, i, j) -> (g, h)>
#from = affine_map<(g, h, i, j) -> (h, i, j)>
#to = affine_map<(g, h, i, j) -> (g, i, j)>
#row = affine_map<(h, i, j) -> (h, j)>
#matrix = affine_map<(h, i, j) -> (h, i, j)>
#read = affine_map<(h, i, j) -> (h, i)>
module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 128, states = [
    <name = "s", kind = matrix, growth = fixed, type = tensor<2x3x5xf32>, neutral = 0.0 : f32, offset = 0>]>} {
func.func @meet(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %s: tensor<2x3x5xf32> {seq.state_name = "s"})
    -> (tensor<?x2x3xf32>, tensor<2x3x5xf32>) attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %table = seq.parameter @table : tensor<11x10xf32>
  %mix = seq.parameter @mix : tensor<2x2xf32>
  %x = seq.kernel "embedding" (%kt = %tokens : tensor<?xi32>, %kw = %table : tensor<11x10xf32>) -> (tensor<?x10xf32>) attributes {root = 0 : i64} {
    %kx = seq.embedding %kt, %kw : (tensor<?xi32>, tensor<11x10xf32>) -> tensor<?x10xf32>
    seq.yield %kx : tensor<?x10xf32>
  }
  %y, %n = seq.kernel "meet" (%kx = %x : tensor<?x10xf32>, %km = %mix : tensor<2x2xf32>, %ks = %s : tensor<2x3x5xf32>)
      -> (tensor<?x2x3xf32>, tensor<2x3x5xf32>) attributes {root = 1 : i64} {
    %kr = seq.reshape %kx : tensor<?x10xf32> -> tensor<?x2x5xf32>
    // expected-error @+1 {{has a step without a translation to tiles}}
    %ky, %kn = seq.recurrence tokens(%xt = %kr : tensor<?x2x5xf32>) parameters(%mt = %km : tensor<2x2xf32>) states(%st = %ks : tensor<2x3x5xf32>)
        -> (tensor<?x2x3xf32>), (tensor<2x3x5xf32>) attributes {form = #seq.form<kind = step>} {
      // expected-note @+1 {{'seq.contract' sums products of more than two dimensions of a head, and is no product of two matrices}}
      %new = seq.contract %mt, %st {indexing_maps = [#m, #from, #to]} : (tensor<2x2xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
      %out = seq.contract %xt, %new {indexing_maps = [#row, #matrix, #read]} : (tensor<2x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3xf32>
      seq.yield %out, %new : tensor<2x3xf32>, tensor<2x3x5xf32>
    }
    seq.yield %ky, %kn : tensor<?x2x3xf32>, tensor<2x3x5xf32>
  }
  return %y, %n : tensor<?x2x3xf32>, tensor<2x3x5xf32>
}
seq.weight @table source("table") : tensor<11x10xf32>
seq.weight @mix source("mix") : tensor<2x2xf32>
}

// -----

// What stands in the way is named behind operands that do not.
#m = affine_map<(g, h, i, j) -> (g, h)>
#from = affine_map<(g, h, i, j) -> (h, i, j)>
#to = affine_map<(g, h, i, j) -> (g, i, j)>
#row = affine_map<(h, i, j) -> (h, j)>
#matrix = affine_map<(h, i, j) -> (h, i, j)>
#read = affine_map<(h, i, j) -> (h, i)>
module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 128, states = [
    <name = "s", kind = matrix, growth = fixed, type = tensor<2x3x5xf32>, neutral = 0.0 : f32, offset = 0>]>} {
func.func @met_twice(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %s: tensor<2x3x5xf32> {seq.state_name = "s"})
    -> (tensor<?x2x3xf32>, tensor<2x3x5xf32>) attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %table = seq.parameter @table : tensor<11x10xf32>
  %mix = seq.parameter @mix : tensor<2x2xf32>
  %x = seq.kernel "embedding" (%kt = %tokens : tensor<?xi32>, %kw = %table : tensor<11x10xf32>) -> (tensor<?x10xf32>) attributes {root = 0 : i64} {
    %kx = seq.embedding %kt, %kw : (tensor<?xi32>, tensor<11x10xf32>) -> tensor<?x10xf32>
    seq.yield %kx : tensor<?x10xf32>
  }
  %y, %n = seq.kernel "meet" (%kx = %x : tensor<?x10xf32>, %km = %mix : tensor<2x2xf32>, %ks = %s : tensor<2x3x5xf32>)
      -> (tensor<?x2x3xf32>, tensor<2x3x5xf32>) attributes {root = 1 : i64} {
    %kr = seq.reshape %kx : tensor<?x10xf32> -> tensor<?x2x5xf32>
    // expected-error @+1 {{has a step without a translation to tiles}}
    %ky, %kn = seq.recurrence tokens(%xt = %kr : tensor<?x2x5xf32>) parameters(%mt = %km : tensor<2x2xf32>) states(%st = %ks : tensor<2x3x5xf32>)
        -> (tensor<?x2x3xf32>), (tensor<2x3x5xf32>) attributes {form = #seq.form<kind = step>} {
      // expected-note @+1 {{'seq.contract' sums products of more than two dimensions of a head, and is no product of two matrices}}
      %new = seq.contract %mt, %st {indexing_maps = [#m, #from, #to]} : (tensor<2x2xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
      %token = seq.broadcast %xt along %new {dimensions = array<i64: 0, 2>} : tensor<2x5xf32>, tensor<2x3x5xf32>
      %sum = seq.add %token, %new : tensor<2x3x5xf32>
      %next = seq.mul %token, %sum : tensor<2x3x5xf32>
      %out = seq.contract %xt, %next {indexing_maps = [#row, #matrix, #read]} : (tensor<2x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3xf32>
      seq.yield %out, %next : tensor<2x3xf32>, tensor<2x3x5xf32>
    }
    seq.yield %ky, %kn : tensor<?x2x3xf32>, tensor<2x3x5xf32>
  }
  return %y, %n : tensor<?x2x3xf32>, tensor<2x3x5xf32>
}
seq.weight @table source("table") : tensor<11x10xf32>
seq.weight @mix source("mix") : tensor<2x2xf32>
}

// -----

// Taps are code each: a kernel of so many would be megabytes of it.
module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>} {
func.func @taps(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<1x9xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %x = seq.parameter @x : tensor<1x9xf32>
  %w = seq.parameter @w : tensor<1x257xf32>
  %y = seq.kernel "wide" (%kx = %x : tensor<1x9xf32>, %kw = %w : tensor<1x257xf32>) -> (tensor<1x9xf32>) attributes {root = 0 : i64} {
    // expected-error @+1 {{'seq.channel_convolution' op has a kernel for at most 256 taps, but got 257}}
    %ky = seq.channel_convolution %kx weight(%kw) {before = 0 : i64} : (tensor<1x9xf32>, tensor<1x257xf32>) -> tensor<1x9xf32>
    seq.yield %ky : tensor<1x9xf32>
  }
  return %y : tensor<1x9xf32>
}
seq.weight @x source("x") : tensor<1x9xf32>
seq.weight @w source("w") : tensor<1x257xf32>
}

// -----

module attributes {
    seq.state_layout = #seq.state_layout<slot_bytes = 512, states = [
      <name = "s", kind = matrix, growth = fixed, type = tensor<4x3x5xf32>, neutral = 0.0 : f32, offset = 0>]>,
    tile.target = #tile.target<nvptx, bit_stable = true, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        vector = 32, registers = 255, step_rate = 60,
                               dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
seq.weight @table source("table") : tensor<11x32xf32>
func.func @chunk_too_long(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %s: tensor<4x3x5xf32> {seq.state_name = "s"})
    -> (tensor<?x4x5xf32>, tensor<4x3x5xf32>) attributes {seq.entry = #seq.entry<kind = prefill, rows = 48>} {
  %table = seq.parameter @table : tensor<11x32xf32>
  %x = seq.kernel "x" (%t = %tokens : tensor<?xi32>, %w = %table : tensor<11x32xf32>) -> (tensor<?x32xf32>) attributes {root = 0 : i64} {
    %e = seq.embedding %t, %w : (tensor<?xi32>, tensor<11x32xf32>) -> tensor<?x32xf32>
    seq.yield %e : tensor<?x32xf32>
  }
  %y:2 = seq.kernel "y" (%a = %x : tensor<?x32xf32>, %state = %s : tensor<4x3x5xf32>) -> (tensor<?x4x5xf32>, tensor<4x3x5xf32>) attributes {root = 4 : i64} {
    %k0 = seq.slice %a {axis = 1 : i64, offset = 0 : i64, size = 12 : i64} : tensor<?x32xf32> -> tensor<?x12xf32>
    %k = seq.reshape %k0 : tensor<?x12xf32> -> tensor<?x4x3xf32>
    %v0 = seq.slice %a {axis = 1 : i64, offset = 12 : i64, size = 20 : i64} : tensor<?x32xf32> -> tensor<?x20xf32>
    %v = seq.reshape %v0 : tensor<?x20xf32> -> tensor<?x4x5xf32>
    // expected-error @+1 {{'seq.rwkv7' op has no kernel for such chunks: expects at most 16 tokens, but got 24}}
    %o, %next = seq.rwkv7 %k, %k, %k, %v, %k, %k state(%state) {form = #seq.form<kind = chunkwise, chunk = 24>}
        : (tensor<?x4x3xf32>, tensor<?x4x3xf32>, tensor<?x4x3xf32>, tensor<?x4x5xf32>,
           tensor<?x4x3xf32>, tensor<?x4x3xf32>, tensor<4x3x5xf32>)
        -> (tensor<?x4x5xf32>, tensor<4x3x5xf32>)
    seq.yield %o, %next : tensor<?x4x5xf32>, tensor<4x3x5xf32>
  }
  return %y#0, %y#1 : tensor<?x4x5xf32>, tensor<4x3x5xf32>
}
}

// -----

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>} {
seq.weight @table source("table") : tensor<11x5xf32>
func.func @narrow_logits(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x5xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %table = seq.parameter @table : tensor<11x5xf32>
  // expected-error @+1 {{'seq.kernel' op hands on result 0 as 'bf16', but it is what the call gives}}
  %x = seq.kernel "rows" (%i = %tokens : tensor<?xi32>, %t = %table : tensor<11x5xf32>) -> (tensor<?x5xf32>)
      attributes {root = 0 : i64, narrow = array<i64: 0>, narrow_to = bf16} {
    %e = seq.embedding %i, %t : (tensor<?xi32>, tensor<11x5xf32>) -> tensor<?x5xf32>
    seq.yield %e : tensor<?x5xf32>
  }
  return %x : tensor<?x5xf32>
}
}

// -----

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 64, states = [
    <name = "last", kind = shift, growth = fixed, type = tensor<3x5xf32>, neutral = 0.0 : f32, offset = 0>]>} {
seq.weight @table source("table") : tensor<11x15xf32>
func.func @narrow_state(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %last: tensor<3x5xf32> {seq.state_name = "last"})
    -> (tensor<?x3x5xf32>, tensor<3x5xf32>) attributes {seq.entry = #seq.entry<kind = decode, rows = 2>} {
  %table = seq.parameter @table : tensor<11x15xf32>
  %x = seq.kernel "rows" (%i = %tokens : tensor<?xi32>, %t = %table : tensor<11x15xf32>) -> (tensor<?x15xf32>) attributes {root = 0 : i64} {
    %e = seq.embedding %i, %t : (tensor<?xi32>, tensor<11x15xf32>) -> tensor<?x15xf32>
    seq.yield %e : tensor<?x15xf32>
  }
  // expected-error @+1 {{'seq.kernel' op hands on result 1 as 'bf16', but it is a state}}
  %y:2 = seq.kernel "shift" (%a = %x : tensor<?x15xf32>, %s = %last : tensor<3x5xf32>) -> (tensor<?x3x5xf32>, tensor<3x5xf32>)
      attributes {root = 1 : i64, narrow = array<i64: 1>, narrow_to = bf16} {
    %h = seq.reshape %a : tensor<?x15xf32> -> tensor<?x3x5xf32>
    %z, %next = seq.token_shift %h state(%s) : tensor<?x3x5xf32>, tensor<3x5xf32>
    seq.yield %z, %next : tensor<?x3x5xf32>, tensor<3x5xf32>
  }
  return %y#0, %y#1 : tensor<?x3x5xf32>, tensor<3x5xf32>
}
}

// -----

// By hand, without the root.
module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>} {
seq.weight @table source("table") : tensor<11x6xf32>
func.func @prefill_4(%tokens: tensor<?xi32>) -> tensor<?x6xf32>
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 4>} {
  %table = seq.parameter @table : tensor<11x6xf32>
  // expected-error @+1 {{expects 'root', the number of the op whose builder makes the kernel, since 'seq.embedding' is not elementwise; seq-form-kernels writes it}}
  %x = seq.kernel "embedding" (%kt = %tokens : tensor<?xi32>, %kw = %table : tensor<11x6xf32>) -> (tensor<?x6xf32>) {
    %e = seq.embedding %kt, %kw : (tensor<?xi32>, tensor<11x6xf32>) -> tensor<?x6xf32>
    seq.yield %e : tensor<?x6xf32>
  }
  return %x : tensor<?x6xf32>
}
}
