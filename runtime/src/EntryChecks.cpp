#include "runtime/src/Limits.h"
#include "runtime/src/ModelChecks.h"
#include "runtime/src/devices/Architecture.h"

#include <set>
#include <string_view>

using namespace effc;
using namespace effc::rt;

/// Whether a segment of this kind and ISA is code for the plan's target.
static bool isCodeOf(const Plan &plan, const artifact::Segment &segment) {
  if (plan.isHost)
    return segment.kind() == artifact::SegmentKind::HostCode;
  switch (architectureOf(plan.name)->kind) {
  case Architecture::Kind::Simulated:
    return segment.kind() == artifact::SegmentKind::SimCode &&
           segment.isa()->string_view() == plan.name;
  case Architecture::Kind::Module:
    return segment.kind() == artifact::SegmentKind::Cubin ||
           segment.kind() == artifact::SegmentKind::Ptx;
  case Architecture::Kind::Text:
    break;
  }
  return false;
}

/// What a kernel of a GPU says of its blocks.
static Check checkBlock(const artifact::Kernel &kernel) {
  std::string_view name = kernel.name()->string_view();
  if (kernel.threads() == 0 || kernel.threads() % kWarpThreads != 0 ||
      kernel.threads() > kMaxBlockThreads)
    return badData("kernel '", name, "' has blocks of ", kernel.threads(),
                   " threads, but a multiple of ", kWarpThreads, " up to ",
                   kMaxBlockThreads, " is expected");
  if (kernel.shared_bytes() > kMaxSharedBytes)
    return badData("kernel '", name, "' has ", kernel.shared_bytes(),
                   " bytes of shared memory, but at most ", kMaxSharedBytes,
                   " are granted");
  if (kernel.registers() > kMaxRegisters)
    return badData("kernel '", name, "' has ", kernel.registers(),
                   " registers, but at most ", kMaxRegisters, " exist");
  return {};
}

/// What a kernel of a GPU says of the boxes that are copied for it.
static Check checkBoxMap(const artifact::Kernel &kernel, uint32_t index) {
  const artifact::BoxMap &map = *kernel.box_maps()->Get(index);
  auto fault = [&](const auto &...parts) {
    return badData("kernel '", kernel.name()->string_view(), "': box map ",
                   index, " ", parts...);
  };
  if (map.operand() >= kernel.operands())
    return fault("is of operand ", map.operand(), " of ", kernel.operands());
  if (map.type() > artifact::ElementType::F16)
    return fault("has elements of type ", unsigned(map.type()),
                 ", but floating-point ones are expected");
  uint64_t bytes = elementBytes(map.type());
  if (map.rows() == 0 || map.rows() > kMaxBoxExtent || map.columns() == 0 ||
      map.columns() > kMaxBoxExtent)
    return fault("is of ", map.rows(), " x ", map.columns(),
                 " elements, but 1 to ", kMaxBoxExtent, " are expected");
  if (map.pitch() % kBoxAlignment != 0 || map.pitch() < map.columns() * bytes ||
      map.pitch() > kMaxBoxExtent * bytes)
    return fault("has rows of ", map.columns() * bytes, " bytes ", map.pitch(),
                 " bytes apart, but a multiple of ", kBoxAlignment,
                 " that holds a row, up to ", kMaxBoxExtent * bytes,
                 ", is expected");
  if (map.box_rows() == 0 || map.box_rows() > kMaxBoxRows ||
      map.box_columns() * bytes != kBoxRowBytes)
    return fault("has boxes of ", map.box_rows(), " rows of ",
                 map.box_columns() * bytes, " bytes, but 1 to ", kMaxBoxRows,
                 " of ", kBoxRowBytes, " are expected");
  return {};
}

static Check checkKernel(const artifact::Program &program, const Plan &plan,
                         const artifact::Kernel &kernel) {
  if (Check error = checkName(kernel.name(), "kernel"))
    return error;
  std::string_view name = kernel.name()->string_view();
  if (kernel.operands() > kMaxOperands)
    return badData("kernel '", name, "' takes ", kernel.operands(),
                   " operands, but at most ", kMaxOperands, " are expected");
  if (kernel.stack_bytes() > kMaxStackBytes)
    return badData("kernel '", name, "' needs ", kernel.stack_bytes(),
                   " bytes of stack, but at most ", kMaxStackBytes,
                   " are granted");
  if (!plan.isHost)
    if (Check error = checkBlock(kernel))
      return error;
  uint32_t maps = kernel.box_maps() ? kernel.box_maps()->size() : 0;
  if (maps > (plan.isHost ? 0 : kMaxBoxMaps))
    return badData("kernel '", name, "' has ", maps, " box maps, but at most ",
                   plan.isHost ? 0 : kMaxBoxMaps, " are expected");
  for (uint32_t i = 0; i < maps; ++i)
    if (Check error = checkBoxMap(kernel, i))
      return error;
  if (plan.isHost && kernel.overlaps())
    return badData("kernel '", name,
                   "' overlaps the launch before it, which the host's do not");
  if (const auto *kinds = kernel.instructions()) {
    if (kinds->size() > kMaxInstructionKinds)
      return badData("kernel '", name, "' counts ", kinds->size(),
                     " kinds of instructions, but at most ",
                     kMaxInstructionKinds, " are expected");
    for (const artifact::InstructionCount *one : *kinds)
      if (Check error = checkName(one->name(), "kind of instructions"))
        return error;
  }
  std::set<uint32_t> seen;
  for (const artifact::KernelCode *code : *kernel.code()) {
    if (code->segment() >= program.segments()->size())
      return badData("kernel '", name, "' names segment ", code->segment(),
                     " of ", program.segments()->size());
    const artifact::Segment &segment =
        *program.segments()->Get(code->segment());
    if (!isCodeOf(plan, segment))
      return badData("kernel '", name, "' names segment ", code->segment(),
                     ", which is not code for ", plan.name);
    bool byName = segment.kind() == artifact::SegmentKind::Cubin ||
                  segment.kind() == artifact::SegmentKind::Ptx;
    if (byName && code->offset() != 0)
      return badData("kernel '", name, "' starts at byte ", code->offset(),
                     " of segment ", code->segment(),
                     ", where it is found by its name: 0 is expected");
    // Functions start there; inside of one anything may stand.
    if (!byName && code->offset() % kCodeAlignment != 0)
      return badData("kernel '", name, "' starts at byte ", code->offset(),
                     " of segment ", code->segment(),
                     ", which is no multiple of ", kCodeAlignment);
    if (code->offset() >= segment.size())
      return badData("kernel '", name, "' starts at byte ", code->offset(),
                     " of a code segment of ", segment.size());
    if (!seen.insert(code->segment()).second)
      return badData("kernel '", name, "' names segment ", code->segment(),
                     " twice");
  }
  return {};
}

Check rt::checkKernels(const artifact::Program &program, const Plan &plan) {
  if (plan.kernels->size() > kMaxKernels)
    return badData("the file lists ", plan.kernels->size(),
                   " kernels, but at most ", kMaxKernels, " are expected");
  for (const artifact::Kernel *kernel : *plan.kernels)
    if (Check error = checkKernel(program, plan, *kernel))
      return error;
  return {};
}

/// What is wrong with an operand, or null.
static const char *findFault(const artifact::Program &program,
                             const artifact::Entry &entry,
                             const artifact::Operand &operand) {
  switch (operand.kind()) {
  case artifact::OperandKind::Arena:
    if (operand.index() != 0)
      return "has an index into the arena";
    return operand.offset() < entry.arena_bytes()
               ? nullptr
               : "starts past the arena's end";
  case artifact::OperandKind::Weight:
    if (operand.index() >= program.weights()->size())
      return "names a weight that does not exist";
    return operand.offset() < program.weights()->Get(operand.index())->size()
               ? nullptr
               : "starts past its weight's end";
  case artifact::OperandKind::State:
    if (operand.index() >= program.states()->size())
      return "names a state that does not exist";
    return operand.offset() < program.states()->Get(operand.index())->size()
               ? nullptr
               : "starts past its state's end";
  case artifact::OperandKind::Tokens:
  case artifact::OperandKind::RowSlots:
  case artifact::OperandKind::RowPositions:
  case artifact::OperandKind::Segments:
  case artifact::OperandKind::OutputRows:
  case artifact::OperandKind::Logits:
  case artifact::OperandKind::Choices:
  case artifact::OperandKind::Draws:
    if (operand.kind() == artifact::OperandKind::Choices &&
        rowWidth(program) < 2) // they lie where logits would
      return "is of choices, of which a vocabulary of one token has none";
    return operand.index() == 0 && operand.offset() == 0
               ? nullptr
               : "has an index or offset where none is expected";
  }
  return "is of an unknown kind";
}

/// What is wrong with what follows an operand in its buffer, or null. Its start
/// is in order.
static const char *findSizeFault(const artifact::Entry &entry,
                                 const artifact::Operand &operand,
                                 uint64_t bytes) {
  if (operand.kind() != artifact::OperandKind::Arena)
    return bytes == 0 ? nullptr : "has a size outside of the arena";
  return bytes <= entry.arena_bytes() - operand.offset()
             ? nullptr
             : "ends past the arena's end";
}

/// What is wrong with the operand that a kernel copies boxes of, or null.
static const char *findBoxFault(const artifact::Program &program,
                                const artifact::BoxMap &map,
                                const artifact::Operand &operand) {
  if (operand.kind() != artifact::OperandKind::Weight)
    return "is no weight, but boxes are copied of it";
  if (operand.offset() % kBoxAlignment != 0)
    return "starts at no multiple of 16 bytes, but boxes are copied of it";
  uint64_t row = map.columns() * elementBytes(map.type());
  uint64_t rest =
      program.weights()->Get(operand.index())->size() - operand.offset();
  return row <= rest && map.rows() - 1 <= (rest - row) / map.pitch()
             ? nullptr
             : "ends before the boxes that are copied of it";
}

/// One matrix of a product: what of it lies behind its operand's start.
struct ProductMatrix {
  const char *name;
  uint64_t rows, columns, pitch;
  artifact::ElementType type;
};

/// What is wrong with a launch's product, or "".
static std::string findProductFault(const artifact::Program &program,
                                    const artifact::Entry &entry,
                                    const artifact::Launch &launch) {
  using artifact::OperandKind;
  const artifact::MatrixProduct &product = *launch.product();
  if (launch.operands()->size() != 3)
    return "is a product of " + std::to_string(launch.operands()->size()) +
           " operands, but 3 are expected";
  if (product.outputs() == 0 || product.outputs() > kMaxProductExtent ||
      product.inner() == 0 || product.inner() > kMaxProductExtent)
    return "is a product with " + std::to_string(product.outputs()) +
           " outputs of " + std::to_string(product.inner()) +
           " elements, but 1 to " + std::to_string(kMaxProductExtent) +
           " are expected";
  uint64_t rows = entry.rows();
  const ProductMatrix matrices[] = {
      {"x", rows, product.inner(), product.x_pitch(), product.x_type()},
      {"w", product.outputs(), product.inner(), product.w_pitch(),
       product.w_type()},
      {"y", rows, product.outputs(), product.y_pitch(), product.y_type()}};
  for (uint32_t i = 0; i < 3; ++i) {
    const ProductMatrix &matrix = matrices[i];
    const artifact::Operand &operand = *launch.operands()->Get(i);
    std::string name = std::string("is a product whose ") + matrix.name;
    if (matrix.type > artifact::ElementType::F16)
      return name + " has elements of type " +
             std::to_string(unsigned(matrix.type)) +
             ", but floating-point ones are expected";
    if (matrix.pitch < matrix.columns || matrix.pitch > kMaxProductExtent)
      return name + " has rows of " + std::to_string(matrix.columns) +
             " elements " + std::to_string(matrix.pitch) +
             " elements apart, but that many up to " +
             std::to_string(kMaxProductExtent) + " are expected";
    if (operand.offset() % elementBytes(matrix.type) != 0)
      return name + " starts inside of an element, " +
             std::to_string(operand.offset()) + " bytes into operand " +
             std::to_string(i);
    uint64_t room = 0;
    if (operand.kind() == OperandKind::Arena && i != 1)
      room = entry.arena_bytes() - operand.offset();
    else if (operand.kind() == OperandKind::Weight && i == 1)
      room = program.weights()->Get(operand.index())->size() - operand.offset();
    else if (operand.kind() == OperandKind::Logits && i == 2)
      room = rows * rowWidth(program) * sizeof(float);
    else
      return name + " is operand " + std::to_string(i) +
             ", which lies elsewhere";
    // At most 2^31 * 2^31 elements.
    uint64_t elements = (matrix.rows - 1) * matrix.pitch + matrix.columns;
    if (elements > room / elementBytes(matrix.type))
      return name + " ends past the memory of operand " + std::to_string(i);
  }
  return "";
}

static Check checkLaunch(const artifact::Program &program, const Plan &plan,
                         const artifact::Entry &entry, uint32_t index) {
  const artifact::Launch &launch = *entry.launches()->Get(index);
  auto fault = [&](const auto &...parts) {
    return badData("launch ", index, " of entry '", entry.name()->string_view(),
                   "' ", parts...);
  };
  if (launch.kernel() >= plan.kernels->size())
    return fault("names kernel ", launch.kernel(), " of ",
                 plan.kernels->size());
  const artifact::Kernel &kernel = *plan.kernels->Get(launch.kernel());
  if (launch.operands()->size() != kernel.operands())
    return fault("has ", launch.operands()->size(), " operands, but kernel '",
                 kernel.name()->string_view(), "' takes ", kernel.operands());
  const artifact::Items &items = *launch.items();
  if (items.count() > artifact::Count::MAX)
    return fault("counts by unknown kind ", unsigned(items.count()));
  if (items.tile() == 0)
    return fault("has tiles of 0");
  if (launch.only_for() > artifact::CallResult::MAX)
    return fault("is for a result of unknown kind ",
                 unsigned(launch.only_for()));
  bool fixed = items.count() == artifact::Count::One;
  if (int64_t blocks = itemCount(items, fixed ? 1 : entry.rows());
      !plan.isHost && uint64_t(blocks) > kMaxBlocks)
    return fault("has up to ", blocks, " blocks, but at most ", kMaxBlocks,
                 " are possible");
  if (launch.note() && launch.note()->size() > kMaxNameBytes)
    return fault("has a note of ", launch.note()->size(), " bytes");
  if (!isAligned(*launch.operands()))
    return fault("has operands that are not aligned");
  for (uint32_t i = 0; i < launch.operands()->size(); ++i) {
    const artifact::Operand &operand = *launch.operands()->Get(i);
    if (const char *what = findFault(program, entry, operand))
      return fault("has an operand ", i, " that ", what);
    // Other calls bring no draws and have logits where choices would lie.
    bool draws = operand.kind() == artifact::OperandKind::Draws;
    if ((draws || operand.kind() == artifact::OperandKind::Choices) &&
        launch.only_for() != artifact::CallResult::Choices)
      return fault("has an operand ", i, " of ", draws ? "draws" : "choices",
                   ", but is not left out of other calls");
  }
  if (const auto *bytes = launch.operand_bytes()) {
    if (bytes->size() != launch.operands()->size())
      return fault("has ", bytes->size(), " sizes of ",
                   launch.operands()->size(), " operands");
    for (uint32_t i = 0; i < bytes->size(); ++i)
      if (const char *what =
              findSizeFault(entry, *launch.operands()->Get(i), bytes->Get(i)))
        return fault("has an operand ", i, " that ", what);
  }
  if (launch.product()) {
    std::string what = plan.isHost ? "is a product, which the host's are not"
                                   : findProductFault(program, entry, launch);
    if (!what.empty())
      return fault(what);
  }
  if (kernel.box_maps())
    for (const artifact::BoxMap *map : *kernel.box_maps())
      if (const char *what = findBoxFault(
              program, *map, *launch.operands()->Get(map->operand())))
        return fault("has an operand ", map->operand(), " that ", what);
  return {};
}

static Check checkEntry(const artifact::Program &program, const Plan &plan,
                        const artifact::Entry &entry) {
  if (Check error = checkName(entry.name(), "entry"))
    return error;
  std::string_view name = entry.name()->string_view();
  if (entry.kind() > artifact::EntryKind::MAX)
    return badData("entry '", name, "' is of unknown kind ",
                   unsigned(entry.kind()));
  if (entry.rows() == 0 || entry.rows() > kMaxRows)
    return badData("entry '", name, "' takes ", entry.rows(),
                   " rows, but 1 to ", kMaxRows, " are expected");
  if (entry.chunk() == 0)
    return badData("entry '", name, "' has chunks of 0 tokens");
  if (entry.arena_bytes() > kMaxArenaBytes)
    return badData("entry '", name, "' takes an arena of ", entry.arena_bytes(),
                   " bytes, but at most ", kMaxArenaBytes, " are expected");
  if (entry.launches()->size() > kMaxLaunches)
    return badData("entry '", name, "' has ", entry.launches()->size(),
                   " launches, but at most ", kMaxLaunches, " are expected");
  bool chooses = false, takesDraws = false, writesChoices = false;
  for (uint32_t i = 0; i < entry.launches()->size(); ++i) {
    if (Check error = checkLaunch(program, plan, entry, i))
      return error;
    const artifact::Launch &launch = *entry.launches()->Get(i);
    chooses |= launch.only_for() == artifact::CallResult::Choices;
    for (const artifact::Operand *operand : *launch.operands()) {
      takesDraws |= operand->kind() == artifact::OperandKind::Draws;
      writesChoices |= operand->kind() == artifact::OperandKind::Choices;
    }
  }
  // Else those of the call before would be taken for this one's.
  if (chooses && !writesChoices)
    return badData("entry '", name,
                   "' has launches for choices, but none that "
                   "writes them");
  if (chooses && !takesDraws)
    return badData("entry '", name,
                   "' has launches for choices, but none that takes draws");
  return {};
}

/// The entry of `kind` that takes most rows; null when there is none.
static const artifact::Entry *findLargest(const Plan &plan,
                                          artifact::EntryKind kind) {
  const artifact::Entry *largest = nullptr;
  for (const artifact::Entry *entry : *plan.entries)
    if (entry->kind() == kind && (!largest || entry->rows() > largest->rows()))
      largest = entry;
  return largest;
}

Check rt::checkEntries(const artifact::Program &program, const Plan &plan) {
  if (plan.entries->size() > kMaxEntries)
    return badData("the file lists ", plan.entries->size(),
                   " entries, but at most ", kMaxEntries, " are expected");
  std::set<std::string_view> names;
  std::set<std::pair<artifact::EntryKind, uint32_t>> sizes;
  for (const artifact::Entry *entry : *plan.entries) {
    if (Check error = checkEntry(program, plan, *entry))
      return error;
    std::string_view name = entry->name()->string_view();
    if (!names.insert(name).second)
      return badData("two entries are called '", name, "'");
    if (!sizes.insert({entry->kind(), entry->rows()}).second)
      return badData("entry '", name, "' is the second of its kind with ",
                     entry->rows(), " rows");
  }
  const artifact::Entry *prefill =
      findLargest(plan, artifact::EntryKind::Prefill);
  if (!prefill || !findLargest(plan, artifact::EntryKind::Decode))
    return badData("the file has no entry for ",
                   prefill ? "decode" : "prefill");
  // A piece of a longer prompt must be able to reach the next cut.
  if (prefill->rows() < prefill->chunk())
    return badData("the largest prefill entry takes ", prefill->rows(),
                   " rows, fewer than its chunk of ", prefill->chunk());
  return {};
}

static Check checkPlan(const artifact::Program &program, const Plan &plan) {
  if (Check error = checkKernels(program, plan))
    return error;
  if (Check error = checkEntries(program, plan))
    return error;
  return checkLaunches(program, plan);
}

static Check checkTarget(const artifact::Program &program,
                         const artifact::TargetPlan &target) {
  if (Check error = checkName(target.name(), "target"))
    return error;
  std::string_view name = target.name()->string_view();
  std::optional<Architecture> architecture = architectureOf(name);
  if (!architecture || architecture->kind == Architecture::Kind::Text)
    return badData("target '", name,
                   "' is none that is known: \"sm_80\" or \"sim_80\" would be");
  if (Check error = checkPlan(program, planOf(target)))
    return badData("target '", name, "': ", error->message);
  return {};
}

Check rt::checkPlans(const artifact::Program &program) {
  if (hasHostPlan(program))
    if (Check error = checkPlan(program, hostPlan(program)))
      return error;
  if (!program.targets())
    return {};
  if (program.targets()->size() > kMaxTargets)
    return badData("the file lists ", program.targets()->size(),
                   " targets, but at most ", kMaxTargets, " are expected");
  std::set<std::string_view> names;
  for (const artifact::TargetPlan *target : *program.targets()) {
    if (Check error = checkTarget(program, *target))
      return error;
    if (!names.insert(target->name()->string_view()).second)
      return badData("two targets are called '", target->name()->string_view(),
                     "'");
  }
  return {};
}
