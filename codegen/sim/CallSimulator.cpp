// NVVM kernels -> functions of the simulator's ABI.
//
//   nvvm.barrier0                ->  calls.barrier(thread, "layers.0.norm:
//   tile.barrier") %v = llvm.load %p : ptr<3>   ->  calls.access(thread, %p, 4,
//   4, shared, "...")
//                                    %v = llvm.load %p
#include "codegen/sim/Passes.h"

#include "codegen/nvptx/Permutation.h"
#include "dialects/tile/Tile.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/src/devices/sim/SimAbi.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cstddef>

using namespace mlir;

namespace effc::sim {
#define GEN_PASS_DEF_CALLSIMULATORPASS
#include "codegen/sim/Passes.h.inc"

namespace {

constexpr unsigned kGlobalSpace = 1, kSharedSpace = 3;

/// The place of an entry in the table of calls.
#define EFFC_SIM_CALL(name) (offsetof(rt::SimCalls, name) / sizeof(void *))

// "layers.0.norm: tile.store", of a location that names the op inside the
// location of the model's part.
std::string siteOf(Location loc) {
  if (auto named = dyn_cast<NameLoc>(loc)) {
    std::string child = siteOf(named.getChildLoc());
    return child.empty() ? named.getName().str()
                         : child + ": " + named.getName().str();
  }
  if (auto fused = dyn_cast<FusedLoc>(loc))
    return fused.getLocations().empty() ? "" : siteOf(fused.getLocations()[0]);
  if (auto file = dyn_cast<FileLineColLoc>(loc))
    return "line " + std::to_string(file.getLine());
  return "";
}

class KernelRewrite {
public:
  KernelRewrite(ModuleOp module, llvm::StringMap<LLVM::GlobalOp> &sites)
      : module(module), sites(sites), b(module.getContext()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())) {}

  LogicalResult run(LLVM::LLVMFuncOp kernel);

private:
  void bindParameters(LLVM::LLVMFuncOp kernel, LLVM::LLVMFuncOp function);
  LogicalResult rewrite(Operation *op);
  LogicalResult rewriteIntrinsic(LLVM::CallIntrinsicOp op);
  LogicalResult rewritePermute(LLVM::CallIntrinsicOp op);
  LogicalResult rewriteLoadMatrix(NVVM::LdMatrixOp op);
  void rewriteMma(NVVM::MmaOp op, rt::SimMma type);
  LogicalResult rewriteWarpGroupDot(tile::WarpGroupDotOp op);
  LogicalResult rewriteWarpGroupWait(tile::WarpGroupWaitOp op);
  LogicalResult
  rewriteBoxCopy(NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp op);
  bool rewriteArrival(Operation *op);
  Value arrayOf(ValueRange values);
  void checkAccess(Operation *op, Value address, Type type, uint64_t alignment,
                   bool writes);
  void roundToBf16(LLVM::FPTruncOp op);
  LogicalResult roundToTf32(NVVM::ConvertFloatToTF32Op op);

  /// Calls an entry of the table with the thread, `arguments` and, if wanted,
  /// the site.
  Value call(size_t entry, Type result, ValueRange arguments, bool withSite);
  Value site();
  Value i32(uint32_t value) {
    return LLVM::ConstantOp::create(
        b, loc(), b.getI32Type(),
        b.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  Value reserve(Type type, int64_t count);
  Value elementAt(Value array, Type type, int32_t index) {
    return LLVM::GEPOp::create(b, loc(), pointer, type, array,
                               ArrayRef<LLVM::GEPArg>{index});
  }
  Location loc() const { return current->getLoc(); }

  ModuleOp module;
  llvm::StringMap<LLVM::GlobalOp> &sites;
  OpBuilder b;
  Type pointer;
  Operation *current = nullptr;
  Value calls, thread;
  Block *entry = nullptr;
  /// Of sums that are under way: the array of which this is an element, and
  /// its number.
  llvm::DenseMap<Value, std::pair<Value, unsigned>> underWay;
  SmallVector<Operation *> begun; // products, whose results nothing may read
};

} // namespace

Value KernelRewrite::site() {
  std::string text = siteOf(loc());
  LLVM::GlobalOp &global = sites[text];
  if (!global) {
    OpBuilder atStart = OpBuilder::atBlockBegin(module.getBody());
    std::string bytes = text + '\0';
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
    global = LLVM::GlobalOp::create(
        atStart, module.getLoc(), type, /*isConstant=*/true,
        LLVM::Linkage::Internal, "effc_site_" + std::to_string(sites.size()),
        b.getStringAttr(bytes));
  }
  return LLVM::AddressOfOp::create(b, loc(), pointer, global.getSymName());
}

Value KernelRewrite::call(size_t entryNumber, Type result, ValueRange arguments,
                          bool withSite) {
  Value at = elementAt(calls, pointer, static_cast<int32_t>(entryNumber));
  SmallVector<Value> operands = {LLVM::LoadOp::create(b, loc(), pointer, at),
                                 thread};
  llvm::append_range(operands, arguments);
  if (withSite)
    operands.push_back(site());
  Type returned =
      result ? result : Type(LLVM::LLVMVoidType::get(b.getContext()));
  auto type = LLVM::LLVMFunctionType::get(
      returned, llvm::to_vector(ValueRange(operands).drop_front().getTypes()));
  auto called = LLVM::CallOp::create(b, loc(), type, operands);
  return result ? called.getResult() : Value();
}

// Room on the thread's stack; once per op, since loops would use it up.
Value KernelRewrite::reserve(Type type, int64_t count) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(entry);
  Value number = LLVM::ConstantOp::create(b, loc(), b.getI64Type(),
                                          b.getI64IntegerAttr(count));
  return LLVM::AllocaOp::create(b, loc(), pointer, type, number);
}

void KernelRewrite::checkAccess(Operation *op, Value address, Type type,
                                uint64_t alignment, bool writes) {
  unsigned space =
      cast<LLVM::LLVMPointerType>(address.getType()).getAddressSpace();
  if (space != kGlobalSpace && space != kSharedSpace)
    return;
  DataLayout layout = DataLayout::closest(op);
  uint64_t bytes = layout.getTypeSize(type);
  if (alignment == 0)
    alignment = layout.getTypeABIAlignment(type);
  uint32_t flags = (writes ? rt::kSimWrite : rt::kSimRead) |
                   (space == kSharedSpace ? rt::kSimShared : 0);
  Value plain = LLVM::AddrSpaceCastOp::create(b, loc(), pointer, address);
  call(EFFC_SIM_CALL(access), {},
       {plain, i32(bytes), i32(alignment), i32(flags)}, /*withSite=*/true);
}

// To nearest even, as cvt.rn does; the host has no such instruction and would
// call a library.
void KernelRewrite::roundToBf16(LLVM::FPTruncOp op) {
  Type type = op.getType(), words = b.getI32Type(), halves = b.getI16Type();
  auto vector = dyn_cast<VectorType>(type);
  if (vector) {
    words = vector.clone(words);
    halves = vector.clone(halves);
  }
  auto constant = [&](uint32_t value) -> Value {
    TypedAttr attr = b.getI32IntegerAttr(static_cast<int32_t>(value));
    if (vector)
      attr = DenseElementsAttr::get(cast<ShapedType>(words), attr);
    return LLVM::ConstantOp::create(b, loc(), words, attr);
  };
  Value bits = LLVM::BitcastOp::create(b, loc(), words, op.getArg());
  Value odd = LLVM::AndOp::create(
      b, loc(), LLVM::LShrOp::create(b, loc(), bits, constant(16)),
      constant(1));
  Value rounded = LLVM::AddOp::create(
      b, loc(), bits, LLVM::AddOp::create(b, loc(), odd, constant(0x7fff)));
  // NaN would round to infinity: it is made quiet instead.
  Value isNan = LLVM::FCmpOp::create(b, loc(), LLVM::FCmpPredicate::uno,
                                     op.getArg(), op.getArg());
  Value quiet = LLVM::OrOp::create(b, loc(), bits, constant(0x400000));
  rounded = LLVM::SelectOp::create(b, loc(), isNan, quiet, rounded);
  Value high = LLVM::LShrOp::create(b, loc(), rounded, constant(16));
  Value half = LLVM::TruncOp::create(b, loc(), halves, high);
  op.replaceAllUsesWith(
      LLVM::BitcastOp::create(b, loc(), type, half).getResult());
  op.erase();
}

// To nearest, ties away from zero, as cvt.rna does.
LogicalResult KernelRewrite::roundToTf32(NVVM::ConvertFloatToTF32Op op) {
  if (op.getRnd() != NVVM::FPRoundingMode::RNA ||
      op.getSat() != NVVM::SaturationMode::NONE || op.getRelu())
    return op.emitError("the simulator rounds to the nearest tf32 only");
  constexpr uint32_t kHalf = 0x1000, kKept = 0xFFFFE000, kNan = 0x7FFFFFFF;
  Value bits = LLVM::BitcastOp::create(b, loc(), b.getI32Type(), op.getSrc());
  Value rounded = LLVM::AndOp::create(
      b, loc(), LLVM::AddOp::create(b, loc(), bits, i32(kHalf)), i32(kKept));
  // The sum of a NaN might be a number, and what is kept of it infinite.
  Value isNan = LLVM::FCmpOp::create(b, loc(), LLVM::FCmpPredicate::uno,
                                     op.getSrc(), op.getSrc());
  op.replaceAllUsesWith(
      LLVM::SelectOp::create(b, loc(), isNan, i32(kNan), rounded).getResult());
  op.erase();
  return success();
}

// The values in memory, one after another.
Value KernelRewrite::arrayOf(ValueRange values) {
  Type element = values[0].getType();
  Value array = reserve(element, values.size());
  for (auto [i, value] : llvm::enumerate(values))
    LLVM::StoreOp::create(b, loc(), value, elementAt(array, element, i));
  return array;
}

// A chain of products has one array of sums, which the simulator changes when
// they are waited for.
LogicalResult KernelRewrite::rewriteWarpGroupDot(tile::WarpGroupDotOp op) {
  Value sums =
      op.getAcc().empty() ? Value() : underWay.lookup(op.getAcc()[0]).first;
  bool isChain = llvm::all_of(llvm::enumerate(op.getAcc()), [&](auto item) {
    auto [array, number] = underWay.lookup(item.value());
    return array == sums && (!sums || number == item.index());
  });
  if (!isChain)
    return op.emitError("the simulator adds to sums that are under way only "
                        "all together");
  if (op.getAcc().empty()) {
    Value zero = LLVM::ConstantOp::create(b, loc(), b.getF32Type(),
                                          b.getF32FloatAttr(0));
    sums = arrayOf(SmallVector<Value>(op.getSums().size(), zero));
  } else if (!sums) {
    sums = arrayOf(op.getAcc());
  }
  for (auto [i, sum] : llvm::enumerate(op.getSums()))
    underWay[sum] = {sums, i};
  rt::SimMma type = op.getElement().isF16() ? rt::SimMma::M16N8K16F16
                                            : rt::SimMma::M16N8K16Bf16;
  call(
      EFFC_SIM_CALL(multiplyGroup), {},
      {i32(static_cast<uint32_t>(type) | (op.getAcross() ? rt::kSimAcross : 0)),
       i32(op.getSums().size()), arrayOf(op.getA()), op.getB(), sums},
      /*withSite=*/true);
  begun.push_back(op);
  return success();
}

LogicalResult KernelRewrite::rewriteWarpGroupWait(tile::WarpGroupWaitOp op) {
  call(EFFC_SIM_CALL(waitProducts), {}, {}, /*withSite=*/true);
  for (auto [pending, sum] : llvm::zip_equal(op.getPending(), op.getSums())) {
    auto [array, number] = underWay.lookup(pending);
    if (!array)
      return op.emitError("the simulator waits for sums that are under way, "
                          "in the block that began them");
    sum.replaceAllUsesWith(LLVM::LoadOp::create(
        b, loc(), b.getF32Type(), elementAt(array, b.getF32Type(), number)));
  }
  op.erase();
  return success();
}

LogicalResult KernelRewrite::rewriteBoxCopy(
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp op) {
  if (op.getCoordinates().size() != 2 || op.getMulticastMask() ||
      op.getPredicate())
    return op.emitError("the simulator copies boxes of two dimensions to their "
                        "own block, without a predicate");
  auto plain = [&](Value address) -> Value {
    return LLVM::AddrSpaceCastOp::create(b, loc(), pointer, address);
  };
  call(EFFC_SIM_CALL(copyBox), {},
       {plain(op.getDstMem()), op.getTmaDescriptor(), op.getCoordinates()[0],
        op.getCoordinates()[1], plain(op.getMbar())},
       /*withSite=*/true);
  op.erase();
  return success();
}

/// Whether `op` is one on an mbarrier, which is a call now.
bool KernelRewrite::rewriteArrival(Operation *op) {
  auto arrival = [&](size_t entryNumber, Value address, Value number) {
    address = LLVM::AddrSpaceCastOp::create(b, loc(), pointer, address);
    call(entryNumber, {}, {address, number}, /*withSite=*/true);
    op->erase();
    return true;
  };
  if (auto init = dyn_cast<NVVM::MBarrierInitOp>(op))
    return arrival(EFFC_SIM_CALL(startArrivals), init.getAddr(),
                   init.getCount());
  if (auto expect = dyn_cast<NVVM::MBarrierArriveExpectTxOp>(op))
    return arrival(EFFC_SIM_CALL(expectBytes), expect.getAddr(),
                   expect.getTxcount());
  if (auto wait = dyn_cast<NVVM::MBarrierTryWaitParityOp>(op))
    return arrival(EFFC_SIM_CALL(waitArrivals), wait.getAddr(),
                   wait.getPhase());
  return false;
}

void KernelRewrite::rewriteMma(NVVM::MmaOp op, rt::SimMma type) {
  Value a = arrayOf(op.getOperandA()), w = arrayOf(op.getOperandB()),
        c = arrayOf(op.getOperandC());
  Value d = reserve(b.getF32Type(), 4);
  call(EFFC_SIM_CALL(mma), {}, {i32(static_cast<uint32_t>(type)), a, w, c, d},
       /*withSite=*/true);
  Value result = LLVM::PoisonOp::create(b, loc(), op.getType());
  for (int32_t i = 0; i < 4; ++i) {
    Value element = LLVM::LoadOp::create(b, loc(), b.getF32Type(),
                                         elementAt(d, b.getF32Type(), i));
    result = LLVM::InsertValueOp::create(b, loc(), result, element, i);
  }
  op.getResult().replaceAllUsesWith(result);
  op.erase();
}

// prmt, of the one selector that lowerings use.
LogicalResult KernelRewrite::rewritePermute(LLVM::CallIntrinsicOp op) {
  APInt selector;
  if (!matchPattern(op.getArgs()[2], m_ConstantInt(&selector)) ||
      selector != nvptx::kUpperHalves)
    return op.emitError(
        "the simulator does not know this permutation of bytes");
  Value lower = LLVM::LShrOp::create(b, loc(), op.getArgs()[0], i32(16));
  Value upper = LLVM::AndOp::create(b, loc(), op.getArgs()[1], i32(0xffff0000));
  op.getResult(0).replaceAllUsesWith(
      LLVM::OrOp::create(b, loc(), lower, upper));
  op.erase();
  return success();
}

LogicalResult KernelRewrite::rewriteIntrinsic(LLVM::CallIntrinsicOp op) {
  if (op.getIntrin() == "llvm.nvvm.prmt")
    return rewritePermute(op);
  static const llvm::StringMap<size_t> functions = {
      {"llvm.nvvm.ex2.approx.ftz.f", EFFC_SIM_CALL(exp2)},
      {"llvm.nvvm.rcp.approx.ftz.f", EFFC_SIM_CALL(reciprocal)},
      {"llvm.nvvm.tanh.approx.f", EFFC_SIM_CALL(tanh)},
  };
  auto found = functions.find(op.getIntrin());
  if (found == functions.end())
    return op.emitError("the simulator does not know the intrinsic '")
           << op.getIntrin() << "'";
  Value result =
      call(found->second, b.getF32Type(), op.getArgs(), /*withSite=*/false);
  op.getResult(0).replaceAllUsesWith(result);
  op.erase();
  return success();
}

LogicalResult KernelRewrite::rewriteLoadMatrix(NVVM::LdMatrixOp op) {
  if (op.getEltType() != NVVM::LdStMatrixEltType::B16)
    return op.emitError("the simulator loads matrices of 16-bit elements only");
  Type word = b.getI32Type();
  int32_t count = static_cast<int32_t>(op.getNum());
  Value out = reserve(word, count);
  Value address = LLVM::AddrSpaceCastOp::create(b, loc(), pointer, op.getPtr());
  call(EFFC_SIM_CALL(loadMatrix), {},
       {address, i32(count), i32(op.getLayout() == NVVM::MMALayout::col), out},
       /*withSite=*/true);
  auto load = [&](int32_t i) -> Value {
    return LLVM::LoadOp::create(b, loc(), word, elementAt(out, word, i));
  };
  Value result =
      count == 1 ? load(0)
                 : LLVM::PoisonOp::create(b, loc(), op.getType()).getResult();
  for (int32_t i = 0; count > 1 && i < count; ++i)
    result = LLVM::InsertValueOp::create(b, loc(), result, load(i), i);
  op.getResult().replaceAllUsesWith(result);
  op.erase();
  return success();
}

LogicalResult KernelRewrite::rewrite(Operation *op) {
  current = op;
  b.setInsertionPoint(op);
  auto replace = [&](Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    return success();
  };
  auto special = [&](rt::SimSpecial which) {
    return replace(call(EFFC_SIM_CALL(special), b.getI32Type(),
                        i32(static_cast<uint32_t>(which)),
                        /*withSite=*/false));
  };
  if (isa<NVVM::ThreadIdXOp>(op))
    return special(rt::SimSpecial::ThreadX);
  if (isa<NVVM::BlockIdXOp>(op))
    return special(rt::SimSpecial::BlockX);
  if (isa<NVVM::Barrier0Op>(op)) {
    call(EFFC_SIM_CALL(barrier), {}, {}, /*withSite=*/true);
    return op->erase(), success();
  }
  if (auto shuffle = dyn_cast<NVVM::ShflOp>(op)) {
    if (shuffle.getReturnValueAndIsValid())
      return op->emitError("the simulator's shuffles give no predicate");
    Type type = shuffle.getType();
    Value bits = shuffle.getVal();
    bool isFloat = type.isF32();
    if (isFloat)
      bits = LLVM::BitcastOp::create(b, loc(), b.getI32Type(), bits);
    rt::SimShuffle kind;
    switch (shuffle.getKind()) {
    case NVVM::ShflKind::bfly:
      kind = rt::SimShuffle::Butterfly;
      break;
    case NVVM::ShflKind::idx:
      kind = rt::SimShuffle::Index;
      break;
    case NVVM::ShflKind::up:
      kind = rt::SimShuffle::Up;
      break;
    case NVVM::ShflKind::down:
      kind = rt::SimShuffle::Down;
      break;
    }
    Value result =
        call(EFFC_SIM_CALL(shuffle), b.getI32Type(),
             {i32(static_cast<uint32_t>(kind)), shuffle.getThreadMask(), bits,
              shuffle.getOffset(), shuffle.getMaskAndClamp()},
             /*withSite=*/true);
    if (isFloat)
      result = LLVM::BitcastOp::create(b, loc(), type, result);
    return replace(result);
  }
  if (auto mma = dyn_cast<NVVM::MmaOp>(op)) {
    if (mma.getMultiplicandAPtxType() == NVVM::MMATypes::tf32)
      return rewriteMma(mma, rt::SimMma::M16N8K8Tf32), success();
    if (mma.getMultiplicandAPtxType() == NVVM::MMATypes::bf16)
      return rewriteMma(mma, rt::SimMma::M16N8K16Bf16), success();
    if (mma.getMultiplicandAPtxType() == NVVM::MMATypes::f16)
      return rewriteMma(mma, rt::SimMma::M16N8K16F16), success();
    return op->emitError(
        "the simulator knows products of tf32, bf16 and f16 only");
  }
  if (auto copy = dyn_cast<NVVM::CpAsyncOp>(op)) {
    auto plain = [&](Value address) -> Value {
      return LLVM::AddrSpaceCastOp::create(b, loc(), pointer, address);
    };
    Value bytes = i32(copy.getSize());
    call(EFFC_SIM_CALL(copyAsync), {},
         {plain(copy.getDst()), plain(copy.getSrc()), bytes,
          copy.getCpSize() ? copy.getCpSize() : bytes},
         /*withSite=*/true);
    return op->erase(), success();
  }
  if (auto convert = dyn_cast<NVVM::ConvertFloatToTF32Op>(op))
    return roundToTf32(convert);
  if (auto matrix = dyn_cast<NVVM::LdMatrixOp>(op))
    return rewriteLoadMatrix(matrix);
  if (isa<NVVM::CpAsyncCommitGroupOp>(op)) {
    call(EFFC_SIM_CALL(commitGroup), {}, {}, /*withSite=*/true);
    return op->erase(), success();
  }
  if (auto wait = dyn_cast<NVVM::CpAsyncWaitGroupOp>(op)) {
    call(EFFC_SIM_CALL(waitGroup), {}, i32(wait.getN()), /*withSite=*/true);
    return op->erase(), success();
  }
  if (rewriteArrival(op))
    return success();
  if (auto control = dyn_cast<NVVM::GriddepcontrolOp>(op)) {
    // When the next launch begins makes no difference to this one.
    if (control.getKind() == NVVM::GridDepActionKind::wait)
      call(EFFC_SIM_CALL(awaitLaunches), {}, {}, /*withSite=*/true);
    return op->erase(), success();
  }
  if (auto copy = dyn_cast<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(op))
    return rewriteBoxCopy(copy);
  if (auto dot = dyn_cast<tile::WarpGroupDotOp>(op))
    return rewriteWarpGroupDot(dot);
  if (auto wait = dyn_cast<tile::WarpGroupWaitOp>(op))
    return rewriteWarpGroupWait(wait);
  if (isa<tile::WarpGroupFenceOp>(op)) { // registers are values here
    op->replaceAllUsesWith(op->getOperands());
    return op->erase(), success();
  }
  if (isa<NVVM::WgmmaGroupSyncAlignedOp>(op)) {
    call(EFFC_SIM_CALL(commitProducts), {}, {}, /*withSite=*/true);
    return op->erase(), success();
  }
  if (auto fence = dyn_cast<NVVM::FenceProxyOp>(op)) {
    if (fence.getKind() != NVVM::ProxyKind::async_shared)
      return op->emitError("the simulator knows fences of shared memory for "
                           "asynchronous units only");
    call(EFFC_SIM_CALL(fenceProxy), {}, {}, /*withSite=*/true);
    return op->erase(), success();
  }
  if (auto intrinsic = dyn_cast<LLVM::CallIntrinsicOp>(op))
    return rewriteIntrinsic(intrinsic);
  if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
    checkAccess(op, load.getAddr(), load.getType(),
                load.getAlignment().value_or(0), /*writes=*/false);
    return success();
  }
  if (auto store = dyn_cast<LLVM::StoreOp>(op)) {
    checkAccess(op, store.getAddr(), store.getValue().getType(),
                store.getAlignment().value_or(0), /*writes=*/true);
    return success();
  }
  if (auto address = dyn_cast<LLVM::AddressOfOp>(op)) {
    auto type = cast<LLVM::LLVMPointerType>(address.getType());
    if (type.getAddressSpace() != kSharedSpace)
      return success();
    Value plain = call(EFFC_SIM_CALL(shared), pointer, {}, /*withSite=*/false);
    return replace(LLVM::AddrSpaceCastOp::create(b, loc(), type, plain));
  }
  if (auto truncate = dyn_cast<LLVM::FPTruncOp>(op))
    if (getElementTypeOrSelf(truncate.getType()).isBF16())
      return roundToBf16(truncate), success();
  if (op->getName().getDialectNamespace() == "nvvm")
    return op->emitError("the simulator does not know this op");
  return success();
}

// The parameters of a GPU kernel are read from the two arrays that a simulated
// one is passed: addresses of operands and of tensor maps, and counts.
void KernelRewrite::bindParameters(LLVM::LLVMFuncOp kernel,
                                   LLVM::LLVMFuncOp function) {
  Block *old = &function.getBody().front();
  entry = b.createBlock(&function.getBody(), function.getBody().begin());
  for (Type type : function.getFunctionType().getParams())
    entry->addArgument(type, kernel.getLoc());
  calls = entry->getArgument(0);
  thread = entry->getArgument(1);
  int32_t operands = 0, counts = 0;
  for (BlockArgument argument : old->getArguments()) {
    bool isOperand = isa<LLVM::LLVMPointerType>(argument.getType());
    Value array = entry->getArgument(isOperand ? 2 : 3);
    Type type = argument.getType();
    Value at = elementAt(array, isOperand ? pointer : type,
                         isOperand ? operands++ : counts++);
    Value value =
        LLVM::LoadOp::create(b, loc(), isOperand ? pointer : type, at);
    if (isOperand)
      value = LLVM::AddrSpaceCastOp::create(b, loc(), type, value);
    argument.replaceAllUsesWith(value);
  }
  old->eraseArguments(0, old->getNumArguments());
  LLVM::BrOp::create(b, loc(), ValueRange{}, old);
}

LogicalResult KernelRewrite::run(LLVM::LLVMFuncOp kernel) {
  current = kernel;
  b.setInsertionPoint(kernel);
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                  {pointer, pointer, pointer, pointer});
  auto function =
      LLVM::LLVMFuncOp::create(b, kernel.getLoc(), kernel.getSymName(), type);
  for (StringRef name :
       {"effc.threads", "effc.shared_bytes", "effc.box_maps", "effc.overlaps"})
    if (Attribute attr = kernel->getAttr(name))
      function->setAttr(name, attr);
  function.getBody().takeBody(kernel.getBody());
  kernel.erase();
  current = function;
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (op != function)
      ops.push_back(op);
  });
  bindParameters(function, function);
  for (Operation *op : ops)
    if (failed(rewrite(op)))
      return failure();
  for (Operation *product : llvm::reverse(begun)) {
    if (!product->use_empty())
      return product->emitError("is read before it has been waited for");
    product->erase();
  }
  return success();
}

namespace {
struct CallSimulatorPass : impl::CallSimulatorPassBase<CallSimulatorPass> {
  using CallSimulatorPassBase::CallSimulatorPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::StringMap<LLVM::GlobalOp> sites;
    for (auto function :
         llvm::make_early_inc_range(module.getOps<LLVM::LLVMFuncOp>()))
      if (function->hasAttr("nvvm.kernel") &&
          failed(KernelRewrite(module, sites).run(function)))
        return signalPassFailure();
    // Their memory is the simulator's now.
    for (auto global :
         llvm::make_early_inc_range(module.getOps<LLVM::GlobalOp>()))
      if (global.getAddrSpace() == kSharedSpace)
        global.erase();
  }
};
} // namespace
} // namespace effc::sim
