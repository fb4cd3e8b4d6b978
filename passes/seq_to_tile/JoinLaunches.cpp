// What a step does of the same rows, or does alike, -> one launch.
//
//   plan.launch @linear_4(%x, %wq, %q) items <rows, tile = 1, times = 256> note "mixer.q"
//   plan.launch @linear_5(%x, %wv, %v) items <rows, tile = 1, times = 512> note "mixer.v"
// becomes
//   plan.launch @linear_4_joined(%x, %wq, %q, %x, %wv, %v)
//       items <rows, tile = 1, times = 768> note "mixer.q+v"
// whose items below 256 do what those of @linear_4 did, and the others what those of
// @linear_5 did.
//
// A launch of few rows ends before the memory is busy, and the next one waits for it: a
// projection of a step takes some microseconds, of which the bytes of its weights are a
// part. What is brief, such as a norm or the sums of a product's parts, is a launch and
// little else.
#include "passes/seq_to_tile/LaunchOrder.h"
#include "passes/seq_to_tile/Passes.h"

#include "dialects/plan/Plan.h"
#include "dialects/storage/Storage.h"
#include "dialects/tile/Tile.h"

#include "passes/kernel_facts/LaunchCost.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <map>
#include <set>

using namespace mlir;

namespace effc {
#define GEN_PASS_DEF_JOINLAUNCHESPASS
#include "passes/seq_to_tile/Passes.h.inc"

namespace {

/// Whether both have items for the same tiles, of rows or of segments. One tile has all
/// rows of an entry where it is as large.
bool haveSameTiles(plan::LaunchOp first, plan::LaunchOp other) {
  tile::ItemsAttr a = first.getItems(), b = other.getItems();
  int64_t rows = first->getParentOfType<plan::EntryOp>().getRows();
  return a.getCount() == b.getCount() &&
         (a.getTile() == b.getTile() ||
          std::min(a.getTile(), b.getTile()) >= rows);
}

class LaunchJoining {
public:
  explicit LaunchJoining(ModuleOp module)
      : module(module), symbols(module), builder(module.getContext()) {}

  void run();

private:
  void join(plan::EntryOp entry);
  SmallVector<plan::LaunchOp> groupOf(plan::LaunchOp first);
  bool multiplySameRows(plan::LaunchOp first, plan::LaunchOp other);
  bool readsRows(plan::LaunchOp launch);
  bool readsOfCall(plan::LaunchOp launch);
  bool isBrief(plan::LaunchOp launch);
  const std::set<StringRef> &kindsOf(plan::LaunchOp launch);
  bool belongTogether(plan::LaunchOp first, plan::LaunchOp other);
  void replace(ArrayRef<plan::LaunchOp> group);
  tile::KernelOp joinedKernel(ArrayRef<plan::LaunchOp> group);
  void addPart(tile::KernelOp joined, tile::KernelOp part, int64_t firstNumber,
               bool oneTile);
  tile::KernelOp kernelOf(plan::LaunchOp launch) {
    return symbols.lookup<tile::KernelOp>(launch.getKernel());
  }
  LaunchAccesses accessesOf(plan::LaunchOp launch) {
    return LaunchAccesses(launch, kernelOf(launch));
  }

  ModuleOp module;
  SymbolTable symbols;
  OpBuilder builder;
  /// By whether one tile has all rows, and by their parts.
  std::map<std::pair<bool, std::vector<std::string>>, tile::KernelOp> known;
  std::map<Operation *, std::set<StringRef>> knownKinds;
};

} // namespace

void LaunchJoining::run() {
  for (auto entry : module.getOps<plan::EntryOp>())
    if (entry.getKind() == plan::EntryKind::Decode)
      join(entry);
  std::vector<std::string> parts;
  for (const auto &[key, joined] : known)
    parts.insert(parts.end(), key.second.begin(), key.second.end());
  eraseUnlaunched(module, symbols, parts);
}

void LaunchJoining::join(plan::EntryOp entry) {
  llvm::SmallPtrSet<Operation *, 16> done;
  for (auto first : llvm::to_vector(entry.getBody().getOps<plan::LaunchOp>())) {
    if (done.contains(first) || !isAlwaysLaunched(first))
      continue;
    SmallVector<plan::LaunchOp> group = groupOf(first);
    if (group.size() < 2)
      continue;
    done.insert(group.begin(), group.end());
    replace(group);
  }
}

// Whether rows that a launch before has left are read by both, with weights.
bool LaunchJoining::multiplySameRows(plan::LaunchOp first,
                                     plan::LaunchOp other) {
  if (!kernelOf(first).getStreamed() || !kernelOf(other).getStreamed())
    return false;
  LaunchAccesses a = accessesOf(first), b = accessesOf(other);
  return llvm::any_of(a.read, [&](Value memory) {
    return memory.getDefiningOp<plan::ArenaOp>() &&
           !a.written.contains(memory) && b.read.contains(memory) &&
           !b.written.contains(memory);
  });
}

// Whether rows that a launch before has left are read, and no sequence's state.
bool LaunchJoining::readsRows(plan::LaunchOp launch) {
  LaunchAccesses all = accessesOf(launch);
  return launch.getItems().getCount() != tile::Count::Segments &&
         llvm::any_of(all.read, [&](Value memory) {
           return memory.getDefiningOp<plan::ArenaOp>() &&
                  !all.written.contains(memory);
         });
}

// Whether memory moves all that is read and written while a launch begins.
bool LaunchJoining::isBrief(plan::LaunchOp launch) {
  int64_t rows = launch->getParentOfType<plan::EntryOp>().getRows(), bytes = 0;
  for (BlockArgument argument : kernelOf(launch).getOperandArguments())
    if (auto view = dyn_cast<tile::ViewType>(argument.getType())) {
      int64_t elements = 1;
      for (int64_t size : view.getShape())
        elements *= ShapedType::isDynamic(size) ? rows : size;
      bytes += storage::Storage::get(view.getElementType()).bytes(elements);
    }
  return bytes <= bytesOfLaunch(tile::getTarget(module));
}

// Whether anything but weights is read. What is made of weights alone could be made for
// all layers at once, and would lie in memory for all of them.
bool LaunchJoining::readsOfCall(plan::LaunchOp launch) {
  LaunchAccesses all = accessesOf(launch);
  return llvm::any_of(all.read, [&](Value memory) {
    return !all.written.contains(memory) &&
           !memory.getDefiningOp<plan::WeightOp>();
  });
}

// The kinds of operations that compute a kernel's numbers, places apart.
const std::set<StringRef> &LaunchJoining::kindsOf(plan::LaunchOp launch) {
  tile::KernelOp kernel = kernelOf(launch);
  std::set<StringRef> &kinds = knownKinds[kernel];
  if (!kinds.empty())
    return kinds;
  kernel.getBody().walk([&](Operation *op) {
    bool isOfPlaces = op->hasTrait<OpTrait::ConstantLike>() ||
                      (op->getNumResults() > 0 &&
                       llvm::all_of(op->getResultTypes(), [](Type t) {
                         return t.isIndex() || t.isInteger(1);
                       }));
    if (!isOfPlaces)
      kinds.insert(op->getName().getStringRef());
  });
  return kinds;
}

// Products that read the same rows, and what one kernel does with different ones; and of
// brief launches those that do alike: their kernels have operations of the same kinds,
// whatever the sizes. Those of other kinds wait longer with each other's registers.
bool LaunchJoining::belongTogether(plan::LaunchOp first, plan::LaunchOp other) {
  if (!haveSameTiles(first, other) || !readsOfCall(first))
    return false;
  if (first.getKernel() == other.getKernel())
    return true;
  if (multiplySameRows(first, other))
    return true;
  return readsRows(first) && readsRows(other) && isBrief(first) &&
         isBrief(other) && kindsOf(first) == kindsOf(other);
}

// What stands between is done after the group, where it could be done before as well.
SmallVector<plan::LaunchOp> LaunchJoining::groupOf(plan::LaunchOp first) {
  SmallVector<plan::LaunchOp> group = {first};
  LaunchAccesses ofGroup = accessesOf(first), between;
  for (Operation *op = first->getNextNode(); op; op = op->getNextNode()) {
    auto launch = dyn_cast<plan::LaunchOp>(op);
    if (!launch)
      continue;
    LaunchAccesses own = accessesOf(launch);
    if (isAlwaysLaunched(launch) && belongTogether(first, launch) &&
        own.areIndependentOf(ofGroup) && own.areIndependentOf(between)) {
      group.push_back(launch);
      ofGroup.add(launch, kernelOf(launch));
    } else {
      between.add(launch, kernelOf(launch));
    }
  }
  return group;
}

void LaunchJoining::replace(ArrayRef<plan::LaunchOp> group) {
  plan::LaunchOp first = group.front();
  tile::KernelOp kernel = joinedKernel(group);
  SmallVector<Value> operands;
  int64_t flops = 0;
  for (plan::LaunchOp launch : group) {
    moveOperands(launch, first);
    llvm::append_range(operands, launch.getOperands());
    flops += launch.getFlops().value_or(0);
  }
  builder.setInsertionPoint(first);
  auto joined = plan::LaunchOp::create(
      builder, first.getLoc(), FlatSymbolRefAttr::get(kernel.getSymNameAttr()),
      operands, kernel.getItemsAttr(), builder.getStringAttr(joinNotes(group)),
      flops ? builder.getI64IntegerAttr(flops) : IntegerAttr(),
      plan::CallResultAttr(), plan::ProductAttr());
  auto haveAll = [&](auto isSo) {
    return llvm::all_of(group.drop_front(), isSo);
  };
  bool isOneKernel = haveAll([&](plan::LaunchOp launch) {
    return launch.getKernel() == first.getKernel();
  });
  auto hasRowsOfFirst = [&](plan::LaunchOp launch) {
    return multiplySameRows(first, launch);
  };
  bool haveSameRows = haveAll(hasRowsOfFirst);
  bool areBrief = llvm::none_of(group.drop_front(), hasRowsOfFirst);
  emitRemark(joined.getLoc())
      << "one launch of " << group.size()
      << (isOneKernel    ? " by one kernel"
          : haveSameRows ? " products, which read the same rows"
          : areBrief ? " brief ones, which do alike"
                     : " that read the same rows or are brief and do alike");
  for (plan::LaunchOp launch : group)
    launch.erase();
}

tile::KernelOp LaunchJoining::joinedKernel(ArrayRef<plan::LaunchOp> group) {
  std::vector<std::string> names;
  plan::LaunchOp firstLaunch = group.front();
  int64_t tile = 0,
          rows = firstLaunch->getParentOfType<plan::EntryOp>().getRows();
  for (plan::LaunchOp launch : group) {
    names.push_back(launch.getKernel().str());
    tile = std::max(tile, launch.getItems().getTile());
  }
  bool oneTile = tile >= rows;
  tile::KernelOp &joined = known[{oneTile, names}];
  if (joined)
    return joined;
  tile::KernelOp first = kernelOf(firstLaunch);
  SmallVector<int64_t> writes, streamed, aligned;
  int64_t times = 0, operands = 0;
  for (plan::LaunchOp launch : group) {
    tile::KernelOp part = kernelOf(launch);
    auto append = [&](SmallVector<int64_t> &all,
                      std::optional<ArrayRef<int64_t>> own) {
      for (int64_t index : own.value_or(ArrayRef<int64_t>{}))
        all.push_back(operands + index);
    };
    append(writes, part.getWrites());
    append(streamed, part.getStreamed());
    append(aligned, part.getAligned());
    times += launch.getItems().getTimes();
    operands += part.getOperandArguments().size();
  }
  builder.setInsertionPointAfter(first);
  joined = tile::KernelOp::create(
      builder, first.getLoc(), builder.getStringAttr(names.front() + "_joined"),
      tile::ItemsAttr::get(module.getContext(),
                           firstLaunch.getItems().getCount(), tile, times),
      builder.getDenseI64ArrayAttr(writes),
      streamed.empty() ? DenseI64ArrayAttr()
                       : builder.getDenseI64ArrayAttr(streamed),
      aligned.empty() ? DenseI64ArrayAttr()
                      : builder.getDenseI64ArrayAttr(aligned),
      tile::ScheduleAttr());
  Block *body = builder.createBlock(&joined.getBody());
  body->addArgument(builder.getIndexType(), first.getLoc());
  int64_t firstNumber = 0;
  for (plan::LaunchOp launch : group) {
    addPart(joined, kernelOf(launch), firstNumber, oneTile);
    firstNumber += launch.getItems().getTimes();
  }
  symbols.insert(joined); // under a name of its own
  return joined;
}

// By loops of one turn or none, which the kernel level has. A tile's items are those of
// the parts, one part behind another; `firstNumber` is the part's first of them.
void LaunchJoining::addPart(tile::KernelOp joined, tile::KernelOp part,
                            int64_t firstNumber, bool oneTile) {
  Block &body = joined.getBody().front();
  Location loc = part.getLoc();
  builder.setInsertionPointToEnd(&body);
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  int64_t times = part.getItems().getTimes();
  Value number = joined.getItem(), all = index(joined.getItems().getTimes());
  if (!oneTile)
    number = arith::RemUIOp::create(builder, loc, number, all);
  auto compare = [&](arith::CmpIPredicate predicate, int64_t bound) -> Value {
    return arith::CmpIOp::create(builder, loc, predicate, number, index(bound));
  };
  Value isOfPart = arith::AndIOp::create(
      builder, loc, compare(arith::CmpIPredicate::sge, firstNumber),
      compare(arith::CmpIPredicate::slt, firstNumber + times));
  Value turns =
      arith::SelectOp::create(builder, loc, isOfPart, index(1), index(0));
  auto loop = scf::ForOp::create(builder, loc, index(0), turns, index(1));
  builder.setInsertionPointToStart(loop.getBody());
  IRMapping mapping;
  Value item = arith::SubIOp::create(builder, loc, number, index(firstNumber));
  if (!oneTile) {
    Value tile = arith::DivUIOp::create(builder, loc, joined.getItem(), all);
    item = arith::AddIOp::create(
        builder, loc, arith::MulIOp::create(builder, loc, tile, index(times)),
        item);
  }
  mapping.map(part.getItem(), item);
  for (BlockArgument argument : part.getOperandArguments())
    mapping.map(argument, body.addArgument(argument.getType(), loc));
  for (Operation &op : part.getBody().front())
    builder.clone(op, mapping);
}

namespace {
struct JoinLaunchesPass : impl::JoinLaunchesPassBase<JoinLaunchesPass> {
  void runOnOperation() override {
    if (takesLaunches(tile::getTarget(getOperation())))
      LaunchJoining(getOperation()).run();
  }
};
} // namespace
} // namespace effc
