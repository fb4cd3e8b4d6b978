// Kernel tests as files, for machines that have a GPU and no compiler.
//
// With EFFC_EXPORT_DIR in the environment, a PlanRunner compiles and runs
// nothing: it writes the model, its weights, the calls that the test makes and
// what the reference gives in double, as runtime/tools/device_check/CaseFile.h
// says, and gives the test the reference's numbers. The model is left as text,
// with the options that `effc compile` makes a case.effc of it with.
//
// EFFC_EXPORT_PICK=3,13: of the runners of each test those with these numbers,
// counted from 0.
#ifndef EFFC_TEST_UNIT_CODEGEN_HOST_CASEEXPORT_H
#define EFFC_TEST_UNIT_CODEGEN_HOST_CASEEXPORT_H

#include "test/unit/codegen/host/PlanRunner.h"

#include "llvm/Support/JSON.h"

namespace effc::test {

class CaseExport {
public:
  /// Whether tests are to be written instead of run.
  static bool isAsked();

  /// `model` outlives the export; `layout` is that of its compiled slots.
  CaseExport(const TestModel &model, const PipelineOptions &options,
             seq::StateLayoutAttr layout, int64_t slots);
  /// As write().
  ~CaseExport();
  /// Writes the case, if it was picked and called and is not there yet.
  void write();

  void setWeight(llvm::StringRef symbol, llvm::ArrayRef<float> elements) {
    weights[symbol] = elements.vec();
  }
  /// The rows that the reference gives. `memory` is that of all slots, which
  /// the test may have written to; it gets the states after the call.
  std::vector<float> call(plan::EntryKind kind,
                          llvm::ArrayRef<PlanRunner::Segment> call,
                          uint8_t *memory);

private:
  using Segment = PlanRunner::Segment;
  using Tensor = seq::reference::Tensor<double>;

  /// What is known of a slot: its states in double, and its bytes as they were
  /// left.
  struct Slot {
    std::vector<Tensor> states;
    std::vector<uint8_t> bytes;
  };

  llvm::SmallVector<int64_t> shapeOf(seq::StateAttr state) const;
  llvm::ArrayRef<uint8_t> bytesOf(const uint8_t *memory, int64_t slot) const;
  void begin(Slot &slot, uint8_t *memory) const;
  void take(Slot &slot, const uint8_t *memory) const;
  void leave(Slot &slot, uint8_t *memory) const;
  std::vector<double> evaluate(const Segment &segment, Slot &slot) const;
  void addSlot(int64_t index, const Slot &slot);
  void addStates();
  /// Appends to the numbers; where they start.
  int64_t append(const void *bytes, size_t size);
  mlir::OwningOpRef<mlir::ModuleOp> completed() const;
  std::string weightsFile(mlir::ModuleOp module) const;
  llvm::json::Array compileOptions() const;

  const TestModel &model;
  PipelineOptions options;
  seq::StateLayoutAttr layout;
  int64_t slotCount, width;
  std::string name;
  bool picked;
  llvm::StringMap<std::vector<float>> weights;
  std::map<int64_t, Slot> slots;
  llvm::json::Array steps;
  std::string numbers;
};

} // namespace effc::test

#endif // EFFC_TEST_UNIT_CODEGEN_HOST_CASEEXPORT_H
