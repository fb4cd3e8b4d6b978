// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile | FileCheck %s --check-prefix=HOST
// RUN: sed 's/attributes {/attributes {tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>, core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>, vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>,/; /module/!s/attributes {tile.target.*>,/attributes {/' %s \
// RUN:   | effc-opt --seq-form-kernels --convert-seq-to-tile | FileCheck %s --check-prefix=GPU

// Of a host an item is a row: numbers are brought inside of it, and elements are taken.
// What follows is done with the row that was made. Of a GPU an item has 2,048 of 2,500
// channels or the rest of them. It passes over the row in two parts, and takes from each
// what the part has.
module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>} {
seq.weight @table source("table") : tensor<11x2500xf32>
seq.weight @order source("order") : tensor<2500xf32>

// HOST-LABEL: tile.kernel @permute_channels_
// HOST-SAME: %[[ITEM:[^:,]+]],
// HOST-SAME: items(#tile.items<rows, tile = 1, times = 1>)
// HOST-DAG: %[[ORDER:.*]] = tile.load %{{.*}}[%{{.*}}] sizes [2500]
// HOST-DAG: %[[ROW:.*]] = tile.load %{{.*}}[%[[ITEM]], %{{.*}}] sizes [1, 2500]
// HOST: %[[INSIDE:.*]] = tile.map(%[[ORDER]], %{{.*}})
// HOST-DAG: arith.maxnumf
// HOST-DAG: arith.minnumf
// HOST: %[[TAKEN:.*]] = tile.take %[[ROW]] by %[[INSIDE]]
// HOST: tile.map(%[[TAKEN]])
// HOST: arith.negf
// HOST: tile.store

// GPU-LABEL: tile.kernel @permute_channels_
// GPU-SAME: items(#tile.items<rows, tile = 1, times = 2>)
// GPU: tile.load %{{.*}}[%[[OWN:.*]]] columns(%[[LIMIT:.*]]) sizes [2048]
// GPU: %[[Y:.*]] = scf.for
// GPU: %[[PART:.*]] = tile.load %{{.*}}[%{{.*}}, %{{.*}}] columns(%{{.*}}) sizes [1, 2048]
// GPU: %[[TAKEN:.*]] = tile.take %[[PART]] by
// GPU: tile.map(%{{.*}}, %[[TAKEN]],
// GPU: arith.select
// GPU: scf.yield
// GPU: tile.store %{{.*}}, %{{.*}}[%{{.*}}, %[[OWN]]] columns(%[[LIMIT]]) sizes [1, 2048]
func.func @prefill_16(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x2500xf32>
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>} {
  %table = seq.parameter @table : tensor<11x2500xf32>
  %order = seq.parameter @order : tensor<2500xf32>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x2500xf32>) -> tensor<?x2500xf32>
  %y = seq.permute_channels %x by %order : tensor<?x2500xf32>, tensor<2500xf32>
  %n = seq.neg %y : tensor<?x2500xf32>
  %out = seq.select_rows %n, %rows : (tensor<?x2500xf32>, tensor<?xi32>) -> tensor<?x2500xf32>
  return %out : tensor<?x2500xf32>
}
}
