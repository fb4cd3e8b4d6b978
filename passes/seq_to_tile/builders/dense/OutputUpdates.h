// What keeps a state of the outputs of a product with a single row or a few that
// are taken one by one, in the product's kernel: its items own whole outputs, and of
// the tokens before only the state is needed. Each row is a sequence of its own.
//
//   outputs     0 .. 7        7 .. 45             45 .. 83
//   section     none          one convolution     two recurrences, their sum
//   items       2 of up to 4  10                  10
//
// Items are cut so that each lies in one section, and in one head of it. What a
// section needs is read ahead of the product and computed behind it, each in a
// loop of one round in its items and none in others; all threads of a block
// agree on that. Results are stored where they are wanted: on their own, or as
// part of a tensor that joins those of several sections.
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_OUTPUTUPDATES_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_OUTPUTUPDATES_H

#include "passes/seq_to_tile/builders/dense/OutputUpdate.h"

#include <optional>

namespace effc {

class OutputUpdates {
public:
  /// Those in the kernel's body, whose root has `outputs` outputs of up to `rows`
  /// rows, which are all that the call may have, and computes up to `tile` of them at
  /// once.
  OutputUpdates(KernelBuilder &k, int64_t outputs, int64_t tile, int64_t rows);

  bool isEmpty() const { return sections.empty(); }
  /// Whether an update has no code here; a diagnostic says which.
  bool isBroken() const { return broken; }
  /// Runs of up to `tile` outputs, each in one head of one section.
  int64_t getRuns() const { return runs; }
  /// The first output of run number `run`, and how many it has; null: `tile`.
  /// Reads what its section needs besides, of each row.
  std::pair<mlir::Value, mlir::Value> begin(mlir::Value run);
  /// Applies the updates to the run's outputs `y` of `row`, which is number `i` of
  /// the rows, and stores what the kernel gives. Where one convolution takes all
  /// outputs, and nobody else reads them, it gives the convolution's result and its
  /// tile instead, for what follows and to be stored.
  std::optional<std::pair<mlir::Value, mlir::Value>>
  finish(size_t i, mlir::Value row, mlir::Value y);

private:
  /// An update, and what it has loaded for each row of the item.
  struct Update {
    std::unique_ptr<OutputUpdate> code;
    std::vector<mlir::SmallVector<mlir::Value>> loaded = {};
  };
  /// Outputs that the same updates take, or none.
  struct Section {
    TakenOutputs outputs;
    int64_t firstRun;
    std::vector<Update> updates = {};
    mlir::Value trips = {}; ///< 1 for its runs, 0 for others; null: all are
  };

  void addSection(const TakenOutputs &outputs);
  int64_t runsPerHead(const Section &section) const;
  bool isWhole() const;
  OutputPlace placeIn(const Section &section, size_t i);
  mlir::SmallVector<mlir::Value>
  onlyIn(const Section &section, mlir::TypeRange types,
         llvm::function_ref<mlir::SmallVector<mlir::Value>()> body);
  std::pair<mlir::Value, mlir::Value> runIn(const Section &section,
                                            mlir::Value run);
  void applyAll(Section &section, size_t i, mlir::Value row, mlir::Value y);
  void store(const Section &section, const OutputPlace &place, mlir::Value row,
             const llvm::DenseMap<mlir::Value, mlir::Value> &tiles);

  KernelBuilder &k;
  int64_t tile, runs = 0;
  bool broken = false;
  mlir::Value rootResult;
  tile::TileType type;
  std::vector<Section> sections;
  mlir::SmallVector<tile::SegmentOp> segments; ///< of each row
  mlir::Value first, count;
};

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_OUTPUTUPDATES_H
