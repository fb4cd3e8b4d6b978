// RUN: effc-opt %s --nvptx-emit-ptx=output=%t.stepped.ptx -o /dev/null
// RUN: effc-opt %s --nvptx-emit-ptx="output=%t.computed.ptx computed-addresses=true" -o /dev/null
// RUN: FileCheck %s --check-prefix=STEPPED --input-file %t.stepped.ptx
// RUN: FileCheck %s --check-prefix=COMPUTED --input-file %t.computed.ptx

// The loads of a loop are 288 bytes apart. A pointer that steps by them is one
// more register that lives as long as the loop; a kernel that has none left
// computes each from the loop's counter.
// STEPPED-LABEL: .entry every_72nd
// STEPPED: .pragma "nounroll";
// STEPPED-NEXT: ld.volatile.global.b32 {{%r[0-9]+}}, [[[POINTER:%rd[0-9]+]]];
// STEPPED: add.s64 [[POINTER]], [[POINTER]], 288;
// COMPUTED-LABEL: .entry every_72nd
// COMPUTED-NOT: add.s64 {{.*}}, 288;
// COMPUTED: .pragma "nounroll";
// COMPUTED-NEXT: mad.lo.s64 [[PLACE:%rd[0-9]+]], {{%rd[0-9]+}}, 288, {{%rd[0-9]+}};
// COMPUTED-NEXT: ld.volatile.global.b32 {{%r[0-9]+}}, [[[PLACE]]];
// COMPUTED-NOT: add.s64 {{.*}}, 288;
module attributes {tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    cpu = "sm_80", features = "+ptx80", vector = 32, registers = 255,
    step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
llvm.func @every_72nd(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %count: i64) attributes {nvvm.kernel} {
  %c0 = llvm.mlir.constant(0 : i64) : i64
  %c1 = llvm.mlir.constant(1 : i64) : i64
  %c72 = llvm.mlir.constant(72 : i64) : i64
  %zero = llvm.mlir.constant(0.0 : f32) : f32
  llvm.br ^next(%c0, %zero : i64, f32)
^next(%i: i64, %sum: f32):
  %offset = llvm.mul %i, %c72 : i64
  %place = llvm.getelementptr %x[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
  %element = llvm.load volatile %place : !llvm.ptr<1> -> f32
  %more = llvm.fadd %sum, %element : f32
  %after = llvm.add %i, %c1 : i64
  %goes = llvm.icmp "ult" %after, %count : i64
  llvm.cond_br %goes, ^next(%after, %more : i64, f32), ^end
^end:
  llvm.store %more, %y : f32, !llvm.ptr<1>
  llvm.return
}
}
