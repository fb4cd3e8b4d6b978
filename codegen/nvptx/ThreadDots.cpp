// Products on tensor cores.
//
// A warp multiplies pieces of 16 x 16 by 16 x 8 of bf16 (mma.sync m16n8k16). An
// f32 is the sum of three bf16, exactly: its leading 8 bits of mantissa, the
// next 8 and the last 8; an f16 is the sum of two, a bf16 is one. Of the
// products of such sums those are formed that matter in f32, the small ones
// first: what is left out is below 2^-23 of a term. A tensor core aligns terms
// to the largest, cuts off what is behind an f32's last bit or two and cuts the
// sum to an f32 (M. Fasi, N. J. Higham, M. Mikaitis, S. Pranesh, Numerical
// behavior of NVIDIA tensor cores, PeerJ Computer Science 7:e330): a long sum
// would shrink with every product. So what is 16 deep is summed by itself, and
// added as any f32 is (as H. Ootomo, R. Yokota, Recovering single precision
// accuracy from Tensor Cores, do). Of a rounded product each element is one
// bf16 or f16, or one tf32, of which a piece is two products of half the depth.
// Rows, columns and depths past the shape are zeros in shared memory.
//
// Fragments, by the PTX ISA: with g = lane / 4 and t = lane mod 4, a register
// has two elements that follow one another in depth. A has (g, 2t), (g + 8,
// 2t), (g, 2t + 8), (g + 8, 2t + 8), B has (2t, g), (2t + 8, g), and the
// accumulator is #tile.mma. So an operand is read as 8 x 8 matrices of (outer,
// depth) of which a lane holds (g, 2t) and the next: what ldmatrix loads. Of
// tf32 (m16n8k8) a register has one element, A (g, t), (g + 8, t), (g, t + 4),
// (g + 8, t + 4) and B (t, g), (t + 4, g). Which depth comes first makes no
// difference if it is the same in A and B, so depths t and t + 4 are the
// elements 2t and 2t + 1.
#include "codegen/math/Permutation.h"
#include "codegen/nvptx/ThreadLowering.h"
#include "codegen/storage/StoredElements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace effc;
using namespace effc::nvptx;
using namespace effc::stored;
using namespace effc::tile;

static constexpr int64_t kTf32Depth = 8;
static constexpr int64_t kMatrix = 8; // rows and columns of ldmatrix's matrices
/// How many bf16 together are an f32.
static constexpr size_t kMostParts = 3;

size_t ThreadLowering::DotOperand::parts() const {
  return element.isBF16() ? 1 : element.isF16() ? 2 : kMostParts;
}

Type ThreadLowering::DotOperand::piece() const {
  return roundedTo ? roundedTo : BFloat16Type::get(element.getContext());
}

ThreadLowering::DotOperand
ThreadLowering::operandOf(Value tile, bool depthIsRow, Type roundedTo) {
  auto type = cast<TileType>(tile.getType());
  auto layout = dyn_cast<SharedAttr>(type.getLayout());
  if (!layout)
    return {0, 0, 0, 0, type.getElementType(), {}, roundedTo};
  int64_t outer = depthIsRow ? type.columns() : type.rows();
  return {*layout.getOffset(),
          depthIsRow ? 1 : layout.getStride(),
          depthIsRow ? layout.getStride() : 1,
          static_cast<int64_t>(llvm::alignTo(outer, kSharedTile)),
          type.getElementType(),
          slotBytes.lookup(tile),
          roundedTo};
}

// The upper halves of two f32, which are bf16, in one register.
static Value packUpper(OpBuilder &b, Location loc, Value first, Value second) {
  Value selector =
      arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(f32::kUpperHalves));
  return LLVM::CallIntrinsicOp::create(b, loc, b.getI32Type(),
                                       b.getStringAttr("llvm.nvvm.prmt"),
                                       ValueRange{first, second, selector})
      .getResult(0);
}

// Two neighbours as registers of bf16 whose sums they are, the largest first.
static ThreadLowering::Parts splitPair(OpBuilder &b, Location loc, Value first,
                                       Value second, size_t count) {
  Value mask = arith::ConstantOp::create(
      b, loc, b.getI32IntegerAttr(static_cast<int32_t>(0xffff0000)));
  auto bitsOf = [&](Value x) -> Value {
    return arith::BitcastOp::create(b, loc, b.getI32Type(), x);
  };
  auto rest = [&](Value x, Value bits) -> Value {
    Value leading = arith::AndIOp::create(b, loc, bits, mask);
    return arith::SubFOp::create(
        b, loc, x, arith::BitcastOp::create(b, loc, b.getF32Type(), leading));
  };
  ThreadLowering::Parts parts;
  while (true) {
    Value ofFirst = bitsOf(first), ofSecond = bitsOf(second);
    parts.push_back(packUpper(b, loc, ofFirst, ofSecond));
    if (parts.size() == count)
      return parts;
    first = rest(first, ofFirst);
    second = rest(second, ofSecond);
  }
}

// Where this lane begins to read: of 8 x 8 matrices as they lie in memory lane
// 8 i + r brings row r of matrix i to `ldmatrix`; f32 it reads itself, (g, 2t).
// The second of several matrices lies 8 further along the outer axis where
// `outerFirst`, else along the depth, the third and fourth along the other.
std::pair<Value, Value> ThreadLowering::lanePlace(const DotOperand &operand,
                                                  bool outerFirst) {
  Value outer, depth;
  if (operand.element.isF32()) {
    outer = bitsOfThread(0b11100);
    depth = mul(bitsOfThread(0b11), 2);
  } else {
    Value low = mul(bitsOfThread(0b01000), kMatrix),
          high = mul(bitsOfThread(0b10000), kMatrix);
    outer = outerFirst ? low : high;
    depth = outerFirst ? high : low;
    Value &ofRow = operand.depthStride == 1 ? outer : depth;
    ofRow = add(ofRow, bitsOfThread(0b111));
  }
  return {outer, depth};
}

ThreadLowering::Parts ThreadLowering::partsOf(const DotOperand &operand,
                                              std::array<Value, 2> pair) {
  if (!operand.roundedTo)
    return splitPair(b, loc, pair[0], pair[1], operand.parts());
  if (!operand.roundedTo.isTF32())
    return {LLVM::BitcastOp::create(
        b, loc, b.getI32Type(),
        narrow(b, loc, runOf(pair.data(), 2), operand.roundedTo))};
  Parts parts;
  for (Value element : pair)
    // What is stored in 16 bits is a tf32 already.
    parts.push_back(
        operand.element.isF32()
            ? NVVM::ConvertFloatToTF32Op::create(
                  b, loc, b.getI32Type(), element, NVVM::FPRoundingMode::RNA)
                  .getResult()
            : arith::BitcastOp::create(b, loc, b.getI32Type(), element)
                  .getResult());
  return parts;
}

// The matrices of a piece, of which this lane begins at `address`.
SmallVector<ThreadLowering::Parts>
ThreadLowering::loadMatrices(const DotOperand &operand, Value address,
                             unsigned matrices, bool outerFirst) {
  SmallVector<Parts> registers;
  if (!operand.element.isF32()) {
    Type i32Type = b.getI32Type(), result = i32Type;
    if (matrices > 1)
      result = LLVM::LLVMStructType::getLiteral(
          b.getContext(), SmallVector<Type>(matrices, i32Type));
    Value loaded = NVVM::LdMatrixOp::create(
        b, loc, result, address, matrices,
        operand.depthStride == 1 ? NVVM::MMALayout::row : NVVM::MMALayout::col,
        NVVM::LdStMatrixShapeAttr::get(b.getContext(), kMatrix, kMatrix),
        NVVM::LdStMatrixEltType::B16);
    for (unsigned i = 0; i < matrices; ++i) {
      Value pair =
          matrices > 1
              ? LLVM::ExtractValueOp::create(b, loc, loaded, i).getResult()
              : loaded;
      if (operand.element == operand.piece()) {
        registers.push_back({pair});
        continue;
      }
      Value halves = LLVM::BitcastOp::create(
          b, loc, VectorType::get({2}, b.getI16Type()), pair);
      auto half = [&](int64_t at) {
        return widen(b, loc,
                     LLVM::ExtractElementOp::create(b, loc, halves, i32(at)),
                     operand.element);
      };
      registers.push_back(partsOf(operand, {half(0), half(1)}));
    }
    return registers;
  }
  Type f32Type = b.getF32Type();
  for (unsigned i = 0; i < matrices; ++i) {
    bool furtherOut = outerFirst ? i & 1 : i & 2,
         deeper = outerFirst ? i & 2 : i & 1;
    int64_t place = (furtherOut ? kMatrix * operand.outerStride : 0) +
                    (deeper ? kMatrix * operand.depthStride : 0);
    std::array<Value, 2> pair;
    if (operand.depthStride == 1) {
      Value both = LLVM::LoadOp::create(b, loc, VectorType::get({2}, f32Type),
                                        further(address, f32Type, place),
                                        /*alignment=*/8);
      for (int64_t e = 0; e < 2; ++e)
        pair[e] = LLVM::ExtractElementOp::create(b, loc, both, i32(e));
    } else {
      for (int64_t e = 0; e < 2; ++e)
        pair[e] = LLVM::LoadOp::create(
            b, loc, f32Type,
            further(address, f32Type, place + e * operand.depthStride));
    }
    registers.push_back(partsOf(operand, pair));
  }
  return registers;
}

// A piece of a fragment has what a lane holds of two pieces of sums that are
// neighbours in a row.
SmallVector<ThreadLowering::Parts>
ThreadLowering::heldMatrices(const DotOperand &operand, ArrayRef<Value> rows,
                             size_t columns, size_t row, size_t depth) {
  SmallVector<Parts> registers;
  for (size_t i = 0; i < 4; ++i) {
    const Value *pair =
        &rows[(2 * row + i % 2) * columns + depth / 4 + i / 2 * 2];
    registers.push_back(partsOf(operand, {pair[0], pair[1]}));
  }
  return registers;
}

static NVVM::MMATypes mmaTypeOf(Type type) {
  return type.isTF32()  ? NVVM::MMATypes::tf32
         : type.isF16() ? NVVM::MMATypes::f16
                        : NVVM::MMATypes::bf16;
}

// sums += A B for one piece, of operands such as `operand`; `places` are its
// four elements among the sums.
void ThreadLowering::multiplyPiece(const DotOperand &operand, ArrayRef<Parts> a,
                                   ArrayRef<Parts> w,
                                   MutableArrayRef<Value> sums,
                                   ArrayRef<size_t> places) {
  Type type = operand.piece();
  bool isExact = !operand.roundedTo;
  Type f32Type = b.getF32Type();
  auto result = LLVM::LLVMStructType::getLiteral(b.getContext(),
                                                 SmallVector<Type>(4, f32Type));
  // Where operands are exact, so have sums to be: a piece has its own.
  SmallVector<Value> acc;
  for (size_t place : places)
    acc.push_back(isExact ? f32(0) : sums[place]);
  auto multiply = [&](ArrayRef<Value> ofA, ArrayRef<Value> ofW, int64_t depth) {
    Value product = NVVM::MmaOp::create(
        b, loc, result, ofA, ofW, acc,
        ArrayRef<int64_t>{kPieceRows, kPieceColumns, depth},
        /*b1Op=*/std::nullopt, /*intOverflow=*/std::nullopt,
        std::array<NVVM::MMATypes, 2>{mmaTypeOf(type), mmaTypeOf(type)},
        std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                       NVVM::MMALayout::col});
    for (size_t e = 0; e < acc.size(); ++e)
      acc[e] = LLVM::ExtractValueOp::create(b, loc, product, e);
  };
  if (type.isTF32())
    for (size_t half = 0; half < 2; ++half) {
      const Parts &upper = a[2 * half], &lower = a[2 * half + 1];
      multiply({upper[0], lower[0], upper[1], lower[1]}, w[half], kTf32Depth);
    }
  auto part = [&](ArrayRef<Parts> registers, size_t number) {
    return llvm::map_to_vector(registers, [&](const Parts &parts) -> Value {
      if (!type.isF16())
        return parts[number];
      return LLVM::BitcastOp::create(b, loc, VectorType::get({2}, type),
                                     parts[number]);
    });
  };
  size_t most = type.isTF32() ? 0 : kMostParts;
  for (size_t order = most; order-- > 0;)
    for (size_t i = 0; i < a[0].size() && i <= order; ++i)
      if (order - i < w[0].size())
        multiply(part(a, i), part(w, order - i), kPieceDepth);
  for (size_t e = 0; e < places.size(); ++e) {
    Value &sum = sums[places[e]];
    sum = isExact ? arith::AddFOp::create(b, loc, sum, acc[e]).getResult()
                  : acc[e];
  }
}

// A lane's place in a fragment is g and 2t.
std::pair<Value, Value> ThreadLowering::firstOfWarp(const Held &held) {
  return {arith::SubIOp::create(b, loc, held.firstRow, bitsOfThread(0b11100)),
          arith::SubIOp::create(b, loc, held.firstColumn,
                                mul(bitsOfThread(0b11), 2))};
}

ThreadLowering::Lane ThreadLowering::laneOf(const DotOperand &operand,
                                            Value warp, bool outerFirst) {
  auto [outer, depth] = lanePlace(operand, outerFirst);
  Value element =
      add(mul(outer, operand.outerStride), mul(depth, operand.depthStride));
  auto at = [&](Value place) {
    return sharedAddress(operand.offset, place, storedType(operand.element, 1),
                         operand.slot);
  };
  return {at(add(element, mul(warp, operand.outerStride))), at(element)};
}

Value ThreadLowering::pieceAt(const DotOperand &operand, const Lane &lane,
                              const Axis &axis, Value warp, int64_t offset,
                              Value depth) {
  Type type = storedType(operand.element, 1);
  Value address = further(lane.atWarp, type, offset * operand.outerStride);
  if (!axis.exact())
    address =
        select(less(add(warp, constant(offset)), constant(operand.outerSize)),
               address, lane.atStart);
  return further(address, type, mul(depth, operand.depthStride));
}

// Unrolled, a step would have the operands of all steps in registers at once.
static LLVM::LoopAnnotationAttr rolledLoop(MLIRContext *context) {
  auto unroll = LLVM::LoopUnrollAttr::get(
      context, /*disable=*/BoolAttr::get(context, true), /*count=*/{},
      /*runtimeDisable=*/{}, /*full=*/{}, /*followupUnrolled=*/{},
      /*followupRemainder=*/{}, /*followupAll=*/{});
  return LLVM::LoopAnnotationAttr::get(
      context, /*disableNonforced=*/{}, /*vectorize=*/{}, /*interleave=*/{},
      unroll, /*unrollAndJam=*/{}, /*licm=*/{}, /*distribute=*/{},
      /*pipeline=*/{}, /*peeled=*/{}, /*unswitch=*/{}, /*mustProgress=*/{},
      /*isVectorized=*/{}, /*startLoc=*/{}, /*endLoc=*/{},
      /*parallelAccesses=*/{});
}

void ThreadLowering::lowerDot(DotOp dot) {
  if (cast<SharedAttr>(dot.getB().getType().getLayout()).getSwizzled())
    return lowerWarpGroupDot(dot);
  TileType accType = dot.getAcc().getType(), aType = dot.getA().getType();
  Held held = heldOf(accType);
  Type roundedTo = dot.getRoundedTo().value_or(Type());
  DotOperand a = operandOf(dot.getA(), dot.getTransposeA(), roundedTo);
  DotOperand w = operandOf(dot.getB(), !dot.getTransposeB(), roundedTo);
  int64_t depth = llvm::alignTo(
      dot.getTransposeA() ? aType.rows() : aType.columns(), kPieceDepth);
  auto [warpRow, warpColumn] = firstOfWarp(held);
  size_t rowPieces = held.rows() / 2, columnPieces = held.columns() / 2;
  const auto &[rows, columns] = held.distribution;
  bool isHeld = !isa<SharedAttr>(aType.getLayout());
  Lane laneOfW = laneOf(w, warpColumn, /*outerFirst=*/false), laneOfA;
  if (!isHeld)
    laneOfA = laneOf(a, warpRow, /*outerFirst=*/true);
  // Adds what is 16 deep from `at` on; `loadRows` gives the rows of a piece.
  auto multiplyAt = [&](Value at, MutableArrayRef<Value> sums,
                        function_ref<SmallVector<Parts>(size_t)> loadRows) {
    SmallVector<SmallVector<Parts>> ofColumns;
    for (size_t j = 0; j < columnPieces; ++j)
      ofColumns.push_back(loadMatrices(
          w,
          pieceAt(w, laneOfW, columns, warpColumn, columns.offsets[2 * j], at),
          2, /*outerFirst=*/false));
    for (size_t i = 0; i < rowPieces; ++i) {
      SmallVector<Parts> ofRow = loadRows(i);
      for (size_t j = 0; j < columnPieces; ++j) {
        std::array<size_t, 4> places;
        for (size_t e = 0; e < 4; ++e)
          places[e] = (2 * i + e / 2) * held.columns() + 2 * j + e % 2;
        multiplyPiece(w, ofRow, ofColumns[j], sums, places);
      }
    }
  };
  if (isHeld) {
    // Registers have no numbers that a loop could count.
    Elements ofA = tiles.lookup(dot.getA()), sums = tiles.lookup(dot.getAcc());
    for (int64_t at = 0; at < depth; at += kPieceDepth)
      multiplyAt(constant(at), sums, [&](size_t i) {
        return heldMatrices(a, ofA, ofA.size() / held.rows(), i, at);
      });
    tiles[dot.getResult()] = sums;
    return;
  }
  auto loop = scf::ForOp::create(b, loc, constant(0), constant(depth),
                                 constant(kPieceDepth), tiles[dot.getAcc()]);
  loop->setAttr("llvm.loop_annotation", rolledLoop(b.getContext()));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value at = loop.getInductionVar();
    SmallVector<Value> sums(loop.getRegionIterArgs());
    multiplyAt(at, sums, [&](size_t i) {
      return loadMatrices(
          a, pieceAt(a, laneOfA, rows, warpRow, rows.offsets[2 * i], at), 4,
          /*outerFirst=*/true);
    });
    scf::YieldOp::create(b, loc, sums);
  }
  tiles[dot.getResult()] = Elements(loop.getResults());
}
