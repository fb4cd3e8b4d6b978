// Tables of all keys -> as many rows as the longest context has positions, and
// no more positions than a table of learned ones has rows.
//
//   %keys: tensor<4096x2x64xf32>      ->  %keys: tensor<1024x2x64xf32>
//   max_context = 0, 1000 asked for       max_context = 1000
#include "passes/seq/Passes.h"

#include "dialects/seq/Seq.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;

namespace effc {
#define GEN_PASS_DEF_SIZECONTEXTPASS
#include "passes/seq/Passes.h.inc"

namespace {

/// Rows of a table are a multiple of this: whole blocks of keys.
constexpr int64_t kRows = 32;

/// A state that grows with the position, before and after an op that carries
/// it: an argument, or what another op hands on.
struct Growing {
  Value before;
  OpResult next;
  RankedTensorType type;
  int64_t positionsPerRow;

  int64_t positions() const {
    int64_t most = std::numeric_limits<int64_t>::max();
    return type.getDimSize(0) > most / positionsPerRow
               ? most
               : type.getDimSize(0) * positionsPerRow;
  }
};

/// The argument of a model that holds the position of each token, after the
/// tokens and the output rows.
constexpr unsigned kPositions = 2;

struct SizeContextPass : impl::SizeContextPassBase<SizeContextPass> {
  using SizeContextPassBase::SizeContextPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (positions < 0) {
      module.emitError("expects 'positions' of at least 0, but got ")
          << positions.getValue();
      return signalPassFailure();
    }
    bool grows = false;
    for (auto function : module.getOps<func::FuncOp>()) {
      SmallVector<Growing> states = growingStates(function);
      Operation *table = shortestTable(function);
      if (states.empty() && !table)
        continue;
      grows = true;
      int64_t limit = chooseLimit(module, states, table);
      if (table && limit > rowsOf(table)) {
        table->emitOpError("expects ")
            << nameOf(table->getOperand(*tableOf(table)))
            << " to have a row for each of the " << limit
            << " positions of the longest context, but got " << rowsOf(table)
            << " rows";
        return signalPassFailure();
      }
      for (const Growing &state : states)
        resize(state, llvm::divideCeil(llvm::alignTo(limit, kRows),
                                       state.positionsPerRow));
      Block &body = function.getBody().front();
      function.setType(FunctionType::get(
          &getContext(), body.getArgumentTypes(),
          TypeRange(body.getTerminator()->getOperandTypes())));
      if (failed(bound(module, limit)))
        return signalPassFailure();
    }
    if (positions > 0 && !grows)
      emitRemark(module.getLoc())
          << "a longest context of " << positions.getValue()
          << " positions has no effect: no state grows with the position";
  }

  // The operand of an op that has a row of weights for each position, or none.
  static std::optional<unsigned> tableOf(Operation *op) {
    if (isa<seq::EmbeddingOp>(op))
      return 1;
    if (auto mix = dyn_cast<seq::CausalMixOp>(op))
      return mix.getWeightMutable().getOperandNumber();
    // One that turns nothing past its last row needs no more.
    if (auto rotary = dyn_cast<seq::RotaryOp>(op))
      if (int64_t rows = rotary.getFrequencyRows();
          rows && int64_t(rotary.getLast().value_or(rows)) >= rows)
        return rotary.getFrequenciesMutable().getOperandNumber();
    return std::nullopt;
  }

  // What users know a table by: the tensor of their checkpoint.
  static std::string nameOf(Value table) {
    auto parameter = table.getDefiningOp<seq::ParameterOp>();
    if (!parameter)
      return "its table";
    auto weight = SymbolTable::lookupNearestSymbolFrom<seq::WeightOp>(
        parameter, parameter.getWeightAttr());
    if (!weight || weight.getSource().empty())
      return "weight '" + parameter.getWeight().str() + "'";
    return "tensor '" + weight.getSource().str() + "'";
  }

  static int64_t rowsOf(Operation *table) {
    Value rows = table->getOperand(*tableOf(table));
    return cast<RankedTensorType>(rows.getType()).getDimSize(0);
  }

  // The op of the shortest table with a row for each position, or none. Kernels
  // read it without looking at the position again.
  static Operation *shortestTable(func::FuncOp function) {
    Operation *shortest = nullptr;
    if (function.getNumArguments() <= kPositions)
      return shortest;
    BlockArgument positions = function.getArgument(kPositions);
    if (!seq::isIndexTensor(positions.getType()))
      return shortest;
    for (Operation *user : positions.getUsers())
      if (tableOf(user) && (!shortest || rowsOf(user) < rowsOf(shortest)))
        shortest = user;
    return shortest;
  }

  static SmallVector<Growing> growingStates(func::FuncOp function) {
    SmallVector<Growing> states;
    function.walk([&](seq::StatefulOpInterface op) {
      for (const seq::StateDescriptor &state : op.getStates())
        if (state.growth == seq::StateGrowth::MaxContext ||
            state.positionsPerRow > 0) {
          Value before = op->getOperand(state.operand);
          auto handsOn = [&](const Growing &other) {
            return other.next == before;
          };
          if (isa<BlockArgument>(before) || llvm::any_of(states, handsOn))
            states.push_back({before, op->getResult(state.result), state.type,
                              std::max<int64_t>(state.positionsPerRow, 1)});
        }
    });
    return states;
  }

  // What is asked for, else the model's, else what all tables have room for.
  int64_t chooseLimit(ModuleOp module, ArrayRef<Growing> states,
                      Operation *table) {
    if (positions > 0)
      return positions;
    auto model = module->getAttrOfType<seq::ModelAttr>("seq.model");
    if (model && model.getMaxContext() > 0)
      return model.getMaxContext();
    int64_t rows = table ? rowsOf(table) : states.front().positions();
    for (const Growing &state : states)
      rows = std::min(rows, state.positions());
    emitRemark(module.getLoc())
        << "contexts end at " << rows
        << " positions, for which the model's states and tables are made";
    return rows;
  }

  static void resize(Growing state, int64_t rows) {
    RankedTensorType type = seq::withRows(state.type, rows);
    state.before.setType(type);
    state.next.setType(type);
  }

  // The runtime refuses a token past this.
  LogicalResult bound(ModuleOp module, int64_t limit) {
    auto model = module->getAttrOfType<seq::ModelAttr>("seq.model");
    if (!model)
      return positions == 0
                 ? success()
                 : module.emitError("expects 'seq.model' on the module");
    module->setAttr("seq.model",
                    seq::ModelAttr::get(&getContext(), model.getFamily(),
                                        model.getVocabulary(), model.getWidth(),
                                        limit));
    return success();
  }
};
} // namespace
} // namespace effc
