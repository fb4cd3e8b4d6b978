// Compiles models of the seq dialect in memory and runs their plans on plain
// buffers: what compiler and runtime do, without files, threads or sessions.
//
//   TestModel model(text);
//   PlanRunner runner(model, options, /*slots=*/2);
//   runner.setWeight("table", elements);
//   std::vector<float> rows =
//       runner.prefill({{.slot = 1, .tokens = {3, 1, 2}}});
//
// Every buffer starts as NaN and ends at a guard page, so that reading what was
// never written shows, and reading past an end faults.
//
// EFFC_TEST_TARGET names another target than the host: a further level of its
// instruction set ("x86-64-v4"), whose tests a machine without it skips in the
// open, or a simulated GPU ("sim_80"), whose code runs block by block, with all of
// the simulator's checks. Code of another architecture's level runs in a program of its
// own, which EFFC_TEST_RUNNER names (ForeignKernels.h).
//
// EFFC_EXPORT_DIR has tests written as files instead of run (CaseExport.h).
#ifndef EFFC_TEST_UNIT_CODEGEN_HOST_PLANRUNNER_H
#define EFFC_TEST_UNIT_CODEGEN_HOST_PLANRUNNER_H

#include "compiler/Pipelines.h"
#include "dialects/plan/Plan.h"
#include "dialects/seq/reference/Evaluate.h"
#include "dialects/storage/Storage.h"
#include "runtime/abi/HostKernel.h"
#include "runtime/schema/program_generated.h"
#include "runtime/src/devices/sim/SimBlock.h"
#include "test/unit/codegen/host/GuardedMemory.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

namespace effc::test {

class CaseExport;

/// What tests compile for: the host, or what EFFC_TEST_TARGET says.
const Target &testTarget();

/// A module for the test's target, with what MLIR says about it.
class TestModel {
public:
  explicit TestModel(llvm::StringRef text);

  mlir::ModuleOp get() const { return *module; }
  mlir::MLIRContext *getContext() { return &context; }
  /// Errors since the model was made, one per line.
  llvm::StringRef getErrors() const { return errors; }
  llvm::StringRef getRemarks() const { return remarks; }

  /// The results of @forward by the reference in double.
  std::vector<seq::reference::Datum<double>>
  evaluate(std::vector<seq::reference::Datum<double>> inputs,
           const llvm::StringMap<std::vector<float>> &weights) const;

private:
  mlir::MLIRContext context;
  std::string errors, remarks;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// The compiled kernels of a module: its plan.binary, mapped.
class CompiledKernels {
public:
  CompiledKernels() = default;
  /// Null operations where the module has no binary.
  explicit CompiledKernels(mlir::ModuleOp module);

  rt::HostKernel operator[](llvm::StringRef name) const {
    return reinterpret_cast<rt::HostKernel>(kernels.lookup(name).entry);
  }
  /// The same of another architecture: all but memories, operands, counts and items.
  std::pair<const MappedCode &, uint64_t> foreign(llvm::StringRef name) const {
    return {code, kernels.lookup(name).entry -
                      reinterpret_cast<uintptr_t>(code.data())};
  }
  /// What a simulated kernel's blocks need; operands, counts and ranges are
  /// still open.
  rt::SimLaunch simulated(llvm::StringRef name) const;
  /// The tensor maps that a simulated kernel is passed behind `operands`.
  std::vector<rt::SimBoxMap>
  boxMaps(llvm::StringRef name, llvm::ArrayRef<const void *> operands) const;
  /// Room for blocks of any of the kernels.
  std::unique_ptr<rt::SimBlock> makeBlock() const;

private:
  struct Kernel {
    uintptr_t entry = 0;
    uint32_t threads = 0, sharedBytes = 0;
    uint64_t stackBytes = 0;
    bool overlaps = false;
    /// Each with the number of its operand.
    std::vector<std::pair<int64_t, rt::SimBoxMap>> boxMaps = {};
  };
  MappedCode code;
  llvm::StringMap<Kernel> kernels;
};

/// The kernels of several plans as one module, which is compiled and linked
/// once. Kernels of equal bodies are one.
class KernelModule {
public:
  KernelModule();
  ~KernelModule();

  /// Adds the kernels of a module of the plan phase; what each of them is
  /// called here, by its name there.
  llvm::StringMap<std::string> add(mlir::ModuleOp plans);
  /// Compiles all that were added. `edit` may change what one thread does of
  /// them before it is made code of the simulated GPU.
  void compile(const PipelineOptions &options,
               llvm::function_ref<void(mlir::ModuleOp)> edit = nullptr);
  const CompiledKernels &get() const { return kernels; }

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  llvm::StringMap<std::string> names; // by body
  CompiledKernels kernels;
};

class PlanRunner {
public:
  /// One sequence's rows in a call.
  struct Segment {
    int32_t slot = 0;
    int64_t start = 0;  // position of the first row
    bool begins = true; // the states count as zero, whatever the slot holds
    std::vector<int32_t> tokens;
  };

  PlanRunner(PlanRunner &&) noexcept;
  ~PlanRunner();

  using Edit = llvm::function_ref<void(mlir::ModuleOp)>;

  /// Compiles a copy of `model`, whose @forward may have any number of states.
  /// `edit` may change the kernels after the phase `tile`, `editThreads` what
  /// one thread does of them, to see what comes of it.
  PlanRunner(TestModel &model, const PipelineOptions &options, int64_t slots,
             Edit edit = nullptr, Edit editThreads = nullptr);
  /// Adds its kernels to `together`, which is to be compiled before it runs.
  PlanRunner(TestModel &model, const PipelineOptions &options, int64_t slots,
             KernelModule &together, Edit edit = nullptr);

  /// Sets a weight from its elements in row-major order.
  void setWeight(llvm::StringRef symbol, llvm::ArrayRef<float> elements);
  /// Sets a weight from its bytes, row after row without padding.
  void setStoredWeight(llvm::StringRef symbol, llvm::ArrayRef<uint8_t> bytes);
  /// The elements of one slot's state, which is stored as f32.
  llvm::MutableArrayRef<float> state(llvm::StringRef name, int64_t slot);
  /// The same, whether it is stored as f32 or as bf16.
  std::vector<float> readState(llvm::StringRef name, int64_t slot);
  /// Rounds to what it is stored as.
  void writeState(llvm::StringRef name, int64_t slot,
                  llvm::ArrayRef<float> elements);

  /// Runs the smallest entry with room for the rows of `call`; returns the
  /// first result of @forward for every row.
  std::vector<float> prefill(llvm::ArrayRef<Segment> call) {
    return run(plan::EntryKind::Prefill, call);
  }
  std::vector<float> decode(llvm::ArrayRef<Segment> call) {
    return run(plan::EntryKind::Decode, call);
  }
  /// What a decode entry gives in place of that: the largest logit of each row,
  /// or sum of one with noise by `draws`, and its number. On a GPU.
  std::vector<float> choose(llvm::ArrayRef<Segment> call) {
    return run(plan::EntryKind::Decode, call, plan::CallResult::Choices);
  }

  /// How each row's token is drawn, where a kernel draws one; of no rows: the
  /// likeliest.
  std::vector<artifact::DrawRecord> draws;

  /// The items of each launch are run in this many parts, the last one first.
  int64_t parts = 1;

  /// What the simulator found wrong is left in `fault` where it is looked for,
  /// and is a failure of the test elsewhere. "kernel: site: what".
  bool looksForFaults = false;
  std::string fault;

private:
  PlanRunner(TestModel &model, const PipelineOptions &options, int64_t slots,
             std::unique_ptr<KernelModule> alone, Edit edit, Edit editThreads);
  effc::storage::Storage storageOf(llvm::StringRef name) const;
  /// The elements of one slot's state, as they are stored.
  template <typename Element>
  llvm::MutableArrayRef<Element> elementsOf(llvm::StringRef name, int64_t slot);
  std::vector<float> run(plan::EntryKind kind, llvm::ArrayRef<Segment> call,
                         plan::CallResult wanted = plan::CallResult::Logits);
  plan::EntryOp findEntry(plan::EntryKind kind, int64_t rows);
  const void *addressOf(mlir::Value memory) const;
  /// What of the memory of an operand a kernel may touch.
  rt::OperandRange rangeOf(mlir::Value memory) const;
  /// The whole memory that an operand lies in.
  const GuardedMemory &memoryOf(mlir::Value memory) const;
  void simulate(plan::LaunchOp op, llvm::ArrayRef<const void *> operands,
                const int64_t (&counts)[4], int64_t blocks);
  void launchForeign(plan::LaunchOp op, llvm::ArrayRef<const void *> operands,
                     const int64_t (&counts)[4], int64_t items);
  void launch(plan::LaunchOp op, const int64_t (&counts)[4]);

  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<KernelModule> own; // null where kernels are shared
  const KernelModule *kernels = nullptr;
  llvm::StringMap<std::string> kernelNames;
  std::unique_ptr<rt::SimBlock>
      block; // made when a simulated kernel first runs
  seq::StateLayoutAttr layout;
  int64_t logitsWidth = 0;
  llvm::StringMap<GuardedMemory> weights;
  GuardedMemory slots, arena, logits;   // or choices
  GuardedMemory tables[6];              // by plan::Table
  std::unique_ptr<CaseExport> exported; // null where tests are run
};

} // namespace effc::test

#endif // EFFC_TEST_UNIT_CODEGEN_HOST_PLANRUNNER_H
