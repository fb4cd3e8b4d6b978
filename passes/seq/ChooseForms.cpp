// form = the cheapest for the entry and the target, with a remark that says
// why.
#include "passes/seq/Passes.h"

#include "dialects/seq/OpKinds.h"
#include "dialects/seq/Remarks.h"
#include "dialects/seq/Seq.h"
#include "dialects/seq/TokenMapChecks.h"
#include "dialects/tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/kernel_facts/ChunkKernels.h"
#include "passes/kernel_facts/Cores.h"
#include "passes/kernel_facts/MethodSizes.h"
#include "passes/kernel_facts/RecurrenceCost.h"
#include "passes/kernel_facts/RoundedOperands.h"
#include "passes/kernel_facts/ScanKernels.h"
#include "passes/seq/ForcedForm.h"

using namespace mlir;

namespace effc {
#define GEN_PASS_DEF_CHOOSEFORMSPASS
#include "passes/seq/Passes.h.inc"

namespace {

/// Cycles per token and head.
struct Cost {
  seq::FormKind kind;
  int64_t chunk;
  double cycles;
  llvm::StringRef refusal = {}; // to choose it, or empty
};

struct ChooseFormsPass : impl::ChooseFormsPassBase<ChooseFormsPass> {
  using ChooseFormsPassBase::ChooseFormsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto target = tile::getTarget(module);
    if (!target) {
      module.emitError("expects 'tile.target' on the module");
      return signalPassFailure();
    }
    std::optional<ForcedForm> forced = parseForcedForm(force);
    if (!forced && !force.empty()) {
      module.emitError("expects a form ")
          << listForcedForms() << ", but got '" << force << "'";
      return signalPassFailure();
    }
    module.walk([&](seq::MixerOpInterface mixer) {
      auto function = mixer->getParentOfType<func::FuncOp>();
      auto entry = function
                       ? function->getAttrOfType<seq::EntryAttr>("seq.entry")
                       : seq::EntryAttr();
      if (!entry)
        return;
      seq::MixerClass mixerClass = mixer.getStructure().getMixerClass();
      if (mixerClass == seq::MixerClass::Linear &&
          failed(seq::checkTokenMap(mixer)))
        return signalPassFailure();
      if (mixerClass == seq::MixerClass::Linear)
        choose(mixer, entry, target, forced);
      else if (mixerClass == seq::MixerClass::Retrieval)
        chooseRetrieval(mixer, entry, forced);
      else if (mixerClass == seq::MixerClass::Window)
        chooseForWindow(mixer, entry, target, forced);
      else if (mixerClass == seq::MixerClass::Opaque)
        chooseStep(mixer, entry, forced);
    });
  }

  void set(seq::MixerOpInterface mixer, seq::FormKind kind, int64_t chunk) {
    mixer.setFormAttr(seq::FormAttr::get(
        &getContext(), kind, kind == seq::FormKind::Chunkwise ? chunk : 0));
  }

  /// "chunkwise of 7", as it was asked for.
  static std::string nameOf(const ForcedForm &forced) {
    return stringifyFormKind(forced.kind).str() +
           (forced.chunk ? " of " + std::to_string(*forced.chunk) : "");
  }

  // Tokens do not meet in a retrieval, and candidates are always fewer than
  // pairs: nothing is left to choose.
  void chooseRetrieval(seq::MixerOpInterface mixer, seq::EntryAttr entry,
                       std::optional<ForcedForm> forced) {
    set(mixer, seq::FormKind::Step, 0);
    bool refused = forced && entry.getKind() == seq::EntryKind::Prefill &&
                   forced->kind != seq::FormKind::Step;
    InFlightDiagnostic remark = emitRemark(mixer.getLoc());
    remark << (refused ? StringRef(seq::kFallbackRemark) : StringRef())
           << "form in " << stringifyEntryKind(entry.getKind()) << "_"
           << entry.getRows() << ": step, by candidates";
    if (refused)
      remark << " instead of " << nameOf(*forced) << ", which has no kernel";
  }

  // What is not linear runs token by token, whatever was asked for. A decode
  // entry has no other form, so there it is none that could have been better;
  // nor is a step that was asked for. Where tokens do not meet, forms do not differ.
  void chooseStep(seq::MixerOpInterface mixer, seq::EntryAttr entry,
                  std::optional<ForcedForm> forced) {
    set(mixer, seq::FormKind::Step, 0);
    if (seq::isStatelessStep(mixer))
      return remark(mixer, entry,
                    "step, of each token by itself: it carries no state");
    seq::Obstacle obstacle = mixer.getObstacle();
    InFlightDiagnostic remark = emitRemark(mixer.getLoc());
    bool isWorse = entry.getKind() == seq::EntryKind::Prefill &&
                   !(forced && forced->kind == seq::FormKind::Step);
    remark << (isWorse ? StringRef(seq::kFallbackRemark) : StringRef())
           << "form in " << stringifyEntryKind(entry.getKind()) << "_"
           << entry.getRows() << ": step, since it is not linear";
    if (obstacle.op)
      remark << ": '" << obstacle.op->getName() << "' " << obstacle.reason;
  }

  // Keys in blocks, one kernel for one query and for many: there is nothing to
  // choose by cost.
  void chooseForWindow(seq::MixerOpInterface mixer, seq::EntryAttr entry,
                       tile::TargetAttr target,
                       std::optional<ForcedForm> forced) {
    if (entry.getKind() == seq::EntryKind::Decode) {
      set(mixer, seq::FormKind::Step, 0);
      return remark(mixer, entry, "step, since each sequence has one token");
    }
    int64_t most = mostWindowKeys(target);
    set(mixer, seq::FormKind::Chunkwise, most);
    std::string blocks =
        "chunkwise in blocks of at most " + std::to_string(most) + " keys";
    if (forced && (forced->kind != seq::FormKind::Chunkwise ||
                   (forced->chunk && forced->chunk != most)))
      return remarkOnFallback(mixer, entry,
                              Twine(blocks) + " instead of " + nameOf(*forced) +
                                  ", which no kernel of this class computes");
    remark(mixer, entry,
           Twine(blocks) + ", with the same bits wherever a prompt is cut");
  }

  void choose(seq::MixerOpInterface mixer, seq::EntryAttr entry,
              tile::TargetAttr target, std::optional<ForcedForm> forced) {
    if (entry.getKind() == seq::EntryKind::Decode) {
      set(mixer, seq::FormKind::Step, 0);
      return remark(mixer, entry, "step, since each sequence has one token");
    }
    auto stateful = cast<seq::StatefulOpInterface>(mixer.getOperation());
    RankedTensorType state = stateful.getStates()[0].type;
    seq::LinearAttr linear = mixer.getStructure().getLinear();
    Obstacles obstacles = {
        chunkObstacle(linear, target, state.getDimSize(1), state.getDimSize(2)),
        scanObstacle(linear, target.getDevice())};
    if (forced)
      chooseForced(mixer, entry, *forced, obstacles);
    else if (!obstacles.toChunks.empty())
      chooseWithoutChunks(mixer, entry, target, obstacles);
    else
      chooseCheapest(mixer, entry, target, state);
  }

  /// Why a recurrence has no kernel of a form but the time loop; empty where it
  /// has one.
  struct Obstacles {
    std::string toChunks, toScan;

    /// "by step or scan"
    std::string kernels() const {
      if (toChunks.empty())
        return toScan.empty() ? "by step, scan, chunkwise or quadratic"
                              : "by step, chunkwise or quadratic";
      return toScan.empty() ? "by step or scan" : "by step alone";
    }
  };

  // A GPU's cores wait for one another at every token of a prompt, unless
  // pieces of it go beside one another; the host's step is its fast form.
  void chooseWithoutChunks(seq::MixerOpInterface mixer, seq::EntryAttr entry,
                           tile::TargetAttr target,
                           const Obstacles &obstacles) {
    bool scans = obstacles.toScan.empty();
    if (scans && !tile::isBitStable(getOperation())) {
      set(mixer, seq::FormKind::Scan, 0);
      return remark(mixer, entry,
                    "scan, pieces of a sequence beside one another: no kernel "
                    "takes chunks with '" +
                        obstacles.toChunks + "'");
    }
    set(mixer, seq::FormKind::Step, 0);
    if (scans)
      return remarkOnFallback(mixer, entry,
                              "step, for the same bits wherever a prompt is "
                              "cut, instead of scan: no kernel takes chunks "
                              "with '" +
                                  obstacles.toChunks + "'");
    std::string text =
        "step, the one form with a kernel for '" + obstacles.toChunks + "'";
    if (isGpu(target))
      return remarkOnFallback(mixer, entry, text);
    remark(mixer, entry, text);
  }

  static void remark(seq::MixerOpInterface mixer, seq::EntryAttr entry,
                     const Twine &text) {
    emitRemark(mixer.getLoc())
        << "form in " << stringifyEntryKind(entry.getKind()) << "_"
        << entry.getRows() << ": " << text;
  }

  static void remarkOnFallback(seq::MixerOpInterface mixer,
                               seq::EntryAttr entry, const Twine &text) {
    emitRemark(mixer.getLoc()) << seq::kFallbackRemark << "form in "
                               << stringifyEntryKind(entry.getKind()) << "_"
                               << entry.getRows() << ": " << text;
  }

  // What was asked for, or as much of it as there are kernels for. A chunk
  // longer than the entry would never be full, and calls end on the chunk grid.
  void chooseForced(seq::MixerOpInterface mixer, seq::EntryAttr entry,
                    const ForcedForm &forced, const Obstacles &obstacles) {
    bool asksForScan = forced.kind == seq::FormKind::Scan,
         asksForStep = forced.kind == seq::FormKind::Step;
    bool hasNone = asksForScan    ? !obstacles.toScan.empty()
                   : !asksForStep ? !obstacles.toChunks.empty()
                                  : false;
    if (hasNone) {
      // What is nearest: pieces are the chunks of a scan.
      bool scans = !asksForScan && obstacles.toScan.empty();
      set(mixer, scans ? seq::FormKind::Scan : seq::FormKind::Step, 0);
      return remarkOnFallback(
          mixer, entry,
          Twine(scans ? "scan" : "step") + " instead of " + nameOf(forced) +
              ", since kernels compute this recurrence " + obstacles.kernels() +
              ": " +
              (asksForScan
                   ? obstacles.toScan
                   : "none takes chunks with '" + obstacles.toChunks + "'"));
    }
    if (asksForScan || asksForStep) {
      set(mixer, forced.kind, 0);
      return remark(mixer, entry,
                    Twine(stringifyFormKind(forced.kind)) + ", as asked");
    }
    seq::LinearAttr linear = mixer.getStructure().getLinear();
    int64_t most = mostChunkTokens(linear);
    if (forced.kind == seq::FormKind::Quadratic && entry.getRows() > most) {
      set(mixer, seq::FormKind::Step, 0);
      return remarkOnFallback(
          mixer, entry,
          Twine("step instead of quadratic, since no kernel takes more than ") +
              Twine(most) + " tokens at once with '" +
              (linear.getWrites() > 1
                   ? "writes = " + std::to_string(linear.getWrites())
                   : "low_rank = " +
                         stringifyLowRankPair(linear.getLowRank()).str()) +
              "'");
    }
    int64_t asked = forced.chunk.value_or(kUsualChunkTokens),
            chunk = std::min({asked, entry.getRows(), most});
    while (entry.getRows() % chunk != 0)
      --chunk;
    set(mixer, forced.kind, chunk);
    if (forced.chunk && chunk != asked)
      return remarkOnFallback(
          mixer, entry,
          Twine("chunkwise of ") + Twine(chunk) + " instead of " +
              Twine(asked) +
              (asked > most ? ", which is more than a kernel takes"
                            : ", which does not divide the entry's rows"));
    std::string size = forced.kind == seq::FormKind::Chunkwise
                           ? " of " + std::to_string(chunk)
                           : "";
    remark(mixer, entry,
           Twine(stringifyFormKind(forced.kind)) + size + ", as asked");
  }

  void chooseCheapest(seq::MixerOpInterface mixer, seq::EntryAttr entry,
                      tile::TargetAttr target, RankedTensorType state) {
    std::vector<Cost> costs =
        costsOf(mixer.getStructure().getLinear(), target, state.getDimSize(1),
                state.getDimSize(2), entry.getRows());
    // The time loop among equals.
    auto isBefore = [](const Cost &a, const Cost &b) {
      return std::pair(!a.refusal.empty(), a.cycles) <
             std::pair(!b.refusal.empty(), b.cycles);
    };
    const Cost &best = *llvm::min_element(costs, isBefore);
    const Cost &chosen =
        tile::isBitStable(getOperation()) ? costs.front() : best;
    set(mixer, chosen.kind, chosen.chunk);
    std::string text =
        nameOf(chosen) + ", " + cyclesOf(chosen) + " cycles per token and head";
    if (&chosen != &best)
      text += ", for the same bits wherever a prompt is cut";
    StringRef separator = "; others would take ";
    for (const Cost &other : costs)
      if (&other != &chosen) {
        text += separator.str() + cyclesOf(other) + " (" + nameOf(other) +
                (other.refusal.empty() ? "" : ", " + other.refusal.str()) + ")";
        separator = ", ";
      }
    remark(mixer, entry, text);
  }

  static std::string nameOf(const Cost &cost) {
    std::string name = stringifyFormKind(cost.kind).str();
    return cost.kind == seq::FormKind::Chunkwise
               ? name + " of " + std::to_string(cost.chunk)
               : name;
  }

  static std::string cyclesOf(const Cost &cost) {
    return std::to_string(static_cast<int64_t>(cost.cycles + 0.5));
  }

  // What each form takes of a core, for a token and head; the time loop first.
  static std::vector<Cost> costsOf(seq::LinearAttr linear,
                                   tile::TargetAttr target, int64_t keys,
                                   int64_t values, int64_t rows) {
    HeadCost cost = {linear, target, keys, values};
    bool onGpu = isGpu(target);
    std::vector<Cost> costs = {{seq::FormKind::Step, 0, cost.ofSteps()}};
    auto block = [&](seq::FormKind kind, int64_t chunk) {
      costs.push_back({kind, chunk, cost.ofChunks(chunk)});
      if (chunk > mostChunkTokens(linear))
        costs.back().refusal = "without a kernel";
      else if (onGpu && chunk > mostChosenTokens(linear, target, keys))
        costs.back().refusal = "if asked for";
    };
    // Of tokens that write several times, as many as fit the shortest chunk, or half
    // as many and so on, as the entry has so many times.
    if (linear.getWrites() > 1) {
      int64_t chunk = mostChunkTokens(linear);
      while (rows % chunk != 0)
        chunk /= 2;
      block(seq::FormKind::Chunkwise, chunk);
    }
    for (int64_t chunk : kChunkTokens)
      if (rows % chunk == 0 && linear.getWrites() == 1)
        block(seq::FormKind::Chunkwise, chunk);
    block(seq::FormKind::Quadratic, rows);
    // Chunks of as many tokens cost the same, shorter ones less, and a call's
    // bits would depend on its entry.
    if (costs.back().refusal.empty())
      costs.back().refusal = "if asked for";
    if (hasTransitions(linear))
      return costs;
    Cost scan = {seq::FormKind::Scan, 0, cost.ofScan(rows)};
    if (!scanObstacle(linear, target.getDevice()).empty())
      scan.refusal = "without a kernel";
    else
      scan.refusal = "if asked for";
    costs.push_back(scan);
    return costs;
  }
};
} // namespace
} // namespace effc
