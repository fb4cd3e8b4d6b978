// Registration of the tile dialect and the verifiers of its attributes.
#include "dialects/storage/Bytes.h"
#include "dialects/storage/StorageDialect.h"
#include "dialects/tile/Distribution.h"
#include "dialects/tile/Tile.h"

#include "mlir/IR/BuiltinOps.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace effc;
using namespace effc::tile;

#include "dialects/tile/TileDialect.cpp.inc"
#include "dialects/tile/TileEnums.cpp.inc"

#include "dialects/tile/Layouts.cpp.inc"
#include "dialects/tile/ProductUnit.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/tile/TileAttributes.cpp.inc"

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/tile/TileAttributes.cpp.inc"
      >();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "dialects/tile/TileOps.cpp.inc"
      >();
}

LogicalResult ItemsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                Count count, int64_t tile, int64_t times) {
  if (tile < 1 || times < 1) // items1
    return emitError() << "expects 'tile' and 'times' of at least 1, but got "
                       << tile << " and " << times;
  return success();
}

bool effc::tile::isRoundedType(Type type) {
  return type.isBF16() || type.isF16() || type.isTF32();
}

static LogicalResult verifyThreads(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t threads, int64_t sharedBytes) {
  if (threads < 32 || threads > 1024 || threads % 32 != 0)
    return emitError()
           << "expects 'threads' to be a multiple of 32 in 32..1024, but got "
           << threads;
  if (sharedBytes < 0)
    return emitError() << "expects 'shared_bytes' of at least 0, but got "
                       << sharedBytes;
  return success();
}

LogicalResult
BlockLimitsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                        int64_t threads, int64_t sharedBytes) {
  return verifyThreads(emitError, threads, sharedBytes); // block1, block2
}

LogicalResult CoreAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t registers, int64_t memory,
                               int64_t barrier, int64_t product, int64_t launch,
                               int64_t schedulers, int64_t blocks) {
  if (registers < 1) // core1
    return emitError() << "expects 'registers' of at least 1, but got "
                       << registers;
  if (blocks < 1) // core1
    return emitError() << "expects 'blocks' of at least 1, but got " << blocks;
  if (int64_t least = std::min({memory, barrier, product, launch});
      least < 0) // core2
    return emitError() << "expects cycles of at least 0, but got " << least;
  if (schedulers < 1 || !llvm::isPowerOf2_64(schedulers)) // core3
    return emitError() << "expects 'schedulers' to be a power of two, but got "
                       << schedulers;
  return success();
}

LogicalResult TargetAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, Device device, bool,
    bool simulated, ArrayRef<Attribute> units, bool overlaps, Type roundedTo,
    BlockLimitsAttr block, CoreAttr core, bool library, int64_t digits,
    int64_t bundle, StringAttr code, StringAttr, StringAttr, StringAttr ptx,
    bool ownChips, StringAttr triple, ByteProducts byteProducts,
    bool bf16Products, bool optimised, int64_t, int64_t, int64_t, int64_t,
    int64_t exactDotRate, int64_t stateBytes, int64_t cores, int64_t bandwidth,
    int64_t rereads, ArrayRef<IsaAttr> further) {
  if (roundedTo && !isRoundedType(roundedTo)) // target1
    return emitError() << "expects 'rounded_to' to be bf16, f16 or tf32, but "
                          "got "
                       << roundedTo;
  if (device == Device::Host && // target2
      (block || core || simulated || !units.empty() || overlaps || library))
    return emitError() << "expects 'block', 'core', 'simulated', 'units', "
                          "'overlaps' and 'library' of a GPU alone, but got a "
                          "target of the host with one of them";
  if (device != Device::Host && !further.empty()) // target3
    return emitError() << "expects 'further' of the host alone, but got a "
                          "GPU's target with it";
  for (Attribute unit : units)
    if (!isa<ProductUnit>(unit)) // target4
      return emitError() << "expects product units in 'units', but got "
                         << unit;
  if (digits < 0 || digits > 3 || (device != Device::Host && digits)) // target5
    return emitError() << "expects up to 3 'digits' of the host alone, but got "
                       << digits;
  if (device != Device::Host && triple) // target6
    return emitError() << "expects 'triple' of the host alone, but got a GPU's "
                          "target with "
                       << triple;
  if (device != Device::Host && !optimised) // target7
    return emitError() << "expects 'optimised = false' of the host alone, but "
                          "got a GPU's target with it";
  if (exactDotRate < 0 || (exactDotRate && !roundedTo)) // target8
    return emitError() << "expects 'exact_dot_rate' of a target that rounds "
                          "alone, but got "
                       << exactDotRate;
  if (device != Device::Host && stateBytes != 0) // target11
    return emitError() << "expects 'state_bytes' of the host alone, but got a "
                          "GPU's target with "
                       << stateBytes;
  if (device != Device::Host && // target9
      !(block && core && cores > 0 && bandwidth > 0 && rereads > 0))
    return emitError() << "expects 'block', 'core', 'cores', 'bandwidth' and "
                          "'rereads' of a GPU, but got a target without "
                       << (!block          ? "'block'"
                           : !core         ? "'core'"
                           : cores < 1     ? "'cores'"
                           : bandwidth < 1 ? "'bandwidth'"
                                           : "'rereads'");
  if (device == Device::Host && bandwidth) // target9
    return emitError() << "expects 'bandwidth' of a GPU alone, but got the "
                          "host's target with "
                       << bandwidth;
  if (device == Device::Host && stateBytes < 1) // target11
    return emitError() << "expects 'state_bytes' of at least 1 of the host, "
                          "but got "
                       << stateBytes;
  if (device == Device::Host
          ? ptx || ownChips
          : byteProducts != ByteProducts::Pairs || bf16Products) // target10
    return emitError() << "expects 'byte_products' and 'bf16_products' of the "
                          "host alone, and 'ptx' and 'own_chips' of a GPU "
                          "alone, but got a target of the other with one of "
                          "them";
  if (bundle < 0 || (device == Device::Host && bundle)) // target12
    return emitError() << "expects 'bundle' of at least 0 elements, of a GPU "
                          "alone, but got "
                       << bundle;
  llvm::SmallPtrSet<StringAttr, 4> codes = {code};
  for (IsaAttr isa : further)
    if (!codes.insert(isa.getCode()).second) // target3
      return emitError() << "expects levels of different 'code', but got "
                         << isa.getCode() << " twice";
  return success();
}

LogicalResult IsaAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              StringAttr, StringAttr, StringAttr, StringAttr,
                              ByteProducts, bool, int64_t vector,
                              int64_t registers) {
  if (vector < 1 || !llvm::isPowerOf2_64(vector)) // isa1
    return emitError() << "expects 'vector' to be a power of two, but got "
                       << vector;
  if (registers < 8) // isa1
    return emitError() << "expects 'registers' of at least 8, but got "
                       << registers;
  return success();
}

TargetAttr TargetAttr::ofLevel(size_t index) const {
  StringAttr code = getCode(), cpu = getCpu(), features = getFeatures(),
             triple = getTriple();
  ByteProducts byteProducts = getByteProducts();
  bool bf16Products = getBf16Products();
  int64_t vector = getVector(), registers = getRegisters();
  if (index > 0) {
    IsaAttr isa = getFurther()[index - 1];
    code = isa.getCode();
    cpu = isa.getCpu();
    features = isa.getFeatures();
    triple = isa.getTriple();
    byteProducts = isa.getByteProducts();
    bf16Products = isa.getBf16Products();
    vector = isa.getVector();
    registers = isa.getRegisters();
  }
  return get(getContext(), getDevice(), getBitStable(), getSimulated(),
             getUnits(), getOverlaps(), getRoundedTo(), getBlock(), getCore(),
             getLibrary(), getDigits(), getBundle(), code, cpu, features,
             getPtx(), getOwnChips(), triple, byteProducts, bf16Products,
             getOptimised(), vector, registers, getStepRate(), getDotRate(),
             getExactDotRate(), getStateBytes(), getCores(), getBandwidth(),
             getRereads(), {});
}

TargetAttr effc::tile::getTarget(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  return module ? module->getAttrOfType<TargetAttr>(kTargetAttr) : TargetAttr();
}

bool effc::tile::isBitStable(Operation *op) {
  TargetAttr target = getTarget(op);
  return !target || target.getBitStable();
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t threads,
                                   std::optional<int64_t> sharedBytes,
                                   Decided decided) {
  if (sharedBytes.has_value() != (decided >= Decided::Places)) // schedule3
    return emitError() << "expects 'shared_bytes' "
                       << (sharedBytes ? "of decided places alone, but got "
                                       : "where places are decided, but got ")
                       << "a schedule with 'decided' "
                       << stringifyDecided(decided);
  return verifyThreads(emitError, threads,
                       sharedBytes.value_or(0)); // schedule1, schedule2
}

LogicalResult BoxMapAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t operand, int64_t rows, int64_t columns,
                                 int64_t pitch, int64_t boxRows,
                                 int64_t boxColumns, Type elementType) {
  int64_t least = std::min({rows, columns, pitch, boxRows, boxColumns});
  int64_t bits = elementType.isIntOrFloat()
                     ? boxColumns * elementType.getIntOrFloatBitWidth()
                     : 0;
  if (operand < 0 || least < 1 || boxRows > kMostBoxSize ||
      !isa<FloatType>(elementType) || bits != kBoxRowBits) // boxmap1
    return emitError() << "expects numbers of at least 1 and a box of at most "
                       << kMostBoxSize << " rows of "
                       << storage::wholeBytes(kBoxRowBits)
                       << " bytes of floating-point numbers, but got " << rows
                       << " x " << columns << " and a box of " << boxRows
                       << " x " << boxColumns << " " << elementType;
  return success();
}

LogicalResult BlockedAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t threads, int64_t lanes,
                                  int64_t vector) {
  for (int64_t value : {threads, lanes, vector})
    if (value < 1 || !llvm::isPowerOf2_64(value)) // tile_lin1
      return emitError() << "expects 'threads', 'lanes' and 'vector' to be "
                            "powers of two, but got "
                         << threads << ", " << lanes << " and " << vector;
  if (threads % lanes != 0) // tile_lin2
    return emitError()
           << "expects 'threads' to be a multiple of 'lanes', but got "
           << threads << " and " << lanes;
  return success();
}

LogicalResult FragmentAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t threads, int64_t rowWarps) {
  if (threads < kWarp || !llvm::isPowerOf2_64(threads) || rowWarps < 1 ||
      threads / kWarp % rowWarps != 0) // mma1
    return emitError() << "expects 'threads' to be a power of two of at least "
                       << kWarp
                       << ", and 'row_warps' to divide their warps, but got "
                       << threads << " and " << rowWarps;
  return success();
}

LogicalResult SharedAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t, std::optional<int64_t> place,
                                 int64_t stride, int64_t slots, bool swizzled) {
  int64_t offset = place.value_or(0); // what is not placed suits
  if (offset < 0 || offset % kSharedAlignment != 0 || stride < 1 ||
      slots < 1) // shared1
    return emitError() << "expects 'offset' to be a multiple of "
                       << kSharedAlignment
                       << ", at least 0, and positive 'stride' and 'slots', "
                          "but got "
                       << offset << ", " << stride << " and " << slots;
  if (swizzled &&
      (offset % kSwizzleAlignment != 0 || stride != kSwizzledRow)) // shared2
    return emitError() << "expects the 'offset' of swizzled rows to be a "
                          "multiple of "
                       << kSwizzleAlignment << " and their 'stride' to be "
                       << kSwizzledRow << ", but got " << offset << " and "
                       << stride;
  return success();
}

int64_t SharedAttr::getAlignment() const {
  return getSwizzled() ? kSwizzleAlignment : kSharedAlignment;
}
