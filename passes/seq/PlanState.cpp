// States -> bytes of a slot.
//
//   tensor<3x10xf32> {seq.state_name = "layers.0.conv"}    ->  bytes 0..119
//   tensor<2x3x5xf32> {seq.state_name = "layers.0.mixer"}  ->  bytes 128..247
//                                                              slot_bytes = 256
#include "passes/seq/Passes.h"

#include "dialects/seq/Remarks.h"
#include "dialects/seq/Seq.h"
#include "dialects/storage/GroupedCodes.h"
#include "dialects/storage/Storage.h"
#include "dialects/tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace effc {
#define GEN_PASS_DEF_PLANSTATEPASS
#include "passes/seq/Passes.h.inc"

namespace {
struct PlanStatePass : impl::PlanStatePassBase<PlanStatePass> {
  using PlanStatePassBase::PlanStatePassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!llvm::isPowerOf2_64(alignment)) {
      module.emitError("expects 'alignment' to be a power of two, but got ")
          << alignment.getValue();
      return signalPassFailure();
    }
    SmallVector<seq::StateAttr> states;
    int64_t end = 0;
    uint64_t granule = alignment;
    bool isNarrow = false;
    for (auto function : module.getOps<func::FuncOp>()) {
      for (BlockArgument argument : function.getArguments()) {
        auto name = function.getArgAttrOfType<StringAttr>(
            argument.getArgNumber(), "seq.state_name");
        if (!name)
          continue;
        std::optional<seq::StateDescriptor> state = descriptorOf(argument);
        if (!state) {
          return complainOfCarriers(argument, name.getValue());
        }
        int64_t offset = llvm::alignTo(end, alignment);
        RankedTensorType stored =
            storedType(*state, argument.use_begin()->getOwner());
        if (stored != state->type) {
          remarkRounding(argument.getLoc(), name.getValue(), stored,
                         state->kind);
          isNarrow = true;
        }
        storage::Storage storage =
            storage::Storage::get(stored.getElementType());
        // Slots lie whole elements of every state apart.
        granule = std::lcm(granule, storage.isDense()
                                        ? alignment.getValue()
                                        : uint64_t(storage.blockBytes()));
        auto neutral = FloatAttr::get(storage.denseType(), state->neutral);
        states.push_back(seq::StateAttr::get(
            &getContext(), name.getValue(), state->kind, state->growth, stored,
            neutral, offset, state->positionsPerRow));
        end = offset + states.back().getSizeBytes();
      }
      if (!states.empty())
        break; // every other function is an entry of the same model
    }
    if (matrixType != StateStorage::F32 && !isNarrow)
      emitRemark(module.getLoc())
          << seq::kFallbackRemark << "all states stay as they are: "
          << (matrixType == StateStorage::Int8
                  ? "8 bits are for keys and values, and the model keeps none "
                    "for each head"
                  : "the model keeps no keys, values or matrices that may be "
                    "rounded");
    int64_t slot = llvm::alignTo(end, granule);
    module->setAttr("seq.state_layout",
                    seq::StateLayoutAttr::get(&getContext(), slot, states));
  }

  // A state goes in by one op and out by the same.
  void complainOfCarriers(BlockArgument state, StringRef name) {
    auto function = cast<func::FuncOp>(state.getOwner()->getParentOp());
    InFlightDiagnostic error = function.emitError("expects state '")
                               << name
                               << "' to be carried by one op, a mixer, a "
                                  "convolution or a token shift, but ";
    SmallVector<Operation *> readers;
    for (OpOperand &use : state.getUses())
      if (!use.getOwner()->hasTrait<OpTrait::IsTerminator>() &&
          !llvm::is_contained(readers, use.getOwner()))
        readers.push_back(use.getOwner());
    if (readers.empty())
      error << "got none";
    else if (readers.size() == 1)
      error << "got '" << readers.front()->getName() << "', which carries none";
    else
      error << "got " << readers.size();
    for (Operation *reader : llvm::reverse(readers))
      error.attachNote(reader->getLoc())
          << "'" << reader->getName() << "' reads it";
    signalPassFailure();
  }

  // The host's kernels read a token's key and value as the state will have them.
  void remarkRounding(Location location, StringRef name,
                      RankedTensorType stored, seq::StateKind kind) {
    InFlightDiagnostic remark = emitRemark(location);
    tile::TargetAttr target = tile::getTarget(getOperation());
    if (kind != seq::StateKind::Matrix &&
        (!target || target.getDevice() == tile::Device::Host)) {
      remark << "state '" << name << "' is stored as " << typeText(stored)
             << (matrixType == StateStorage::Int8 &&
                         stored.getElementType().isF16()
                     ? ", not in 8 bits, since values are a part of its rows "
                       "or these are too long"
                     : "")
             << ": what a token adds is rounded when it is made, wherever "
                "prompts are cut";
      return;
    }
    bool bitStable = tile::isBitStable(getOperation());
    if (bitStable)
      remark << seq::kFallbackRemark;
    remark << "state '" << name << "' is stored as " << typeText(stored)
           << ": it is rounded at the end of every call, so that results "
              "depend on how prompts are cut or packed";
    if (bitStable)
      remark.attachNote() << "no fallback without bit stability, which is the "
                             "default (--no-bit-stable)";
  }

  static std::string typeText(RankedTensorType stored) {
    Type element = stored.getElementType();
    if (auto blocks = dyn_cast<storage::BlockType>(element))
      return "8 bits, with a scale for each head and token (" +
             blocks.getName().str() + ")";
    std::string text;
    llvm::raw_string_ostream(text) << "'" << element << "'";
    return text;
  }

  // Whether values are a part of the rows of keys: what is read of such a row does not
  // say its scale.
  static bool hasValuesAmongKeys(Operation *op) {
    auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    SmallVector<int64_t> rows;
    for (const seq::StateDescriptor &state :
         cast<seq::StatefulOpInterface>(op).getStates())
      if (state.kind != seq::StateKind::Matrix && state.type.getRank() == 3)
        rows.push_back(state.type.getShape().back());
    return result && llvm::none_of(rows, [&](int64_t channels) {
             return channels == result.getShape().back();
           });
  }

  // Rows of a head's numbers for each token; a number for each stays as it is.
  Type eightBitsFor(const seq::StateDescriptor &state, Operation *op) {
    constexpr int64_t kMostElements = 1024; // of a block
    ArrayRef<int64_t> shape = state.type.getShape();
    if (state.kind == seq::StateKind::Matrix || shape.size() != 3)
      return {};
    if (shape.back() > kMostElements || hasValuesAmongKeys(op))
      return Float16Type::get(&getContext());
    return storage::GroupedCodes{storage::GroupedCodes::Codes::Integers, 8,
                                 shape.back(), storage::FieldKind::Single}
        .describe(&getContext());
  }

  // Tails hold inputs of a few tokens: small, and exact as they are.
  RankedTensorType storedType(const seq::StateDescriptor &state,
                              Operation *op) {
    bool large = state.kind == seq::StateKind::Matrix ||
                 state.kind == seq::StateKind::Window ||
                 state.kind == seq::StateKind::Growing;
    if (!large || state.keepsF32 || matrixType == StateStorage::F32)
      return state.type;
    if (matrixType == StateStorage::Int8) {
      Type element = eightBitsFor(state, op);
      return element ? RankedTensorType::get(state.type.getShape(), element)
                     : state.type;
    }
    Type element = matrixType == StateStorage::BF16
                       ? Type(BFloat16Type::get(&getContext()))
                       : Type(Float16Type::get(&getContext()));
    return RankedTensorType::get(state.type.getShape(), element);
  }

  static std::optional<seq::StateDescriptor>
  descriptorOf(BlockArgument argument) {
    if (!argument.hasOneUse())
      return std::nullopt;
    OpOperand &use = *argument.use_begin();
    auto stateful = dyn_cast<seq::StatefulOpInterface>(use.getOwner());
    if (!stateful)
      return std::nullopt;
    for (const seq::StateDescriptor &state : stateful.getStates())
      if (state.operand == use.getOperandNumber())
        return state;
    return std::nullopt;
  }
};
} // namespace
} // namespace effc
