#include "runtime/src/Limits.h"
#include "runtime/src/ModelChecks.h"

#include <set>
#include <string_view>

using namespace effc;
using namespace effc::rt;

static Check checkKernel(const artifact::Program &program,
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
  std::set<uint32_t> seen;
  for (const artifact::KernelCode *code : *kernel.code()) {
    if (code->segment() >= program.segments()->size())
      return badData("kernel '", name, "' names segment ", code->segment(),
                     " of ", program.segments()->size());
    const artifact::Segment &segment =
        *program.segments()->Get(code->segment());
    if (segment.kind() != artifact::SegmentKind::HostCode)
      return badData("kernel '", name, "' names segment ", code->segment(),
                     ", which is not code");
    if (code->offset() >= segment.size())
      return badData("kernel '", name, "' starts at byte ", code->offset(),
                     " of a code segment of ", segment.size());
    if (!seen.insert(code->segment()).second)
      return badData("kernel '", name, "' names segment ", code->segment(),
                     " twice");
  }
  return {};
}

Check rt::checkKernels(const artifact::Program &program) {
  if (program.kernels()->size() > kMaxKernels)
    return badData("the file lists ", program.kernels()->size(),
                   " kernels, but at most ", kMaxKernels, " are expected");
  for (const artifact::Kernel *kernel : *program.kernels())
    if (Check error = checkKernel(program, *kernel))
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
    return operand.index() == 0 && operand.offset() == 0
               ? nullptr
               : "has an index or offset where none is expected";
  }
  return "is of an unknown kind";
}

static Check checkLaunch(const artifact::Program &program,
                         const artifact::Entry &entry, uint32_t index) {
  const artifact::Launch &launch = *entry.launches()->Get(index);
  auto fault = [&](const auto &...parts) {
    return badData("launch ", index, " of entry '", entry.name()->string_view(),
                   "' ", parts...);
  };
  if (launch.kernel() >= program.kernels()->size())
    return fault("names kernel ", launch.kernel(), " of ",
                 program.kernels()->size());
  const artifact::Kernel &kernel = *program.kernels()->Get(launch.kernel());
  if (launch.operands()->size() != kernel.operands())
    return fault("has ", launch.operands()->size(), " operands, but kernel '",
                 kernel.name()->string_view(), "' takes ", kernel.operands());
  const artifact::Items &items = *launch.items();
  if (items.count() > artifact::Count::MAX)
    return fault("counts by unknown kind ", unsigned(items.count()));
  if (items.tile() == 0)
    return fault("has tiles of 0");
  if (launch.note() && launch.note()->size() > kMaxNameBytes)
    return fault("has a note of ", launch.note()->size(), " bytes");
  if (!isAligned(*launch.operands()))
    return fault("has operands that are not aligned");
  for (uint32_t i = 0; i < launch.operands()->size(); ++i)
    if (const char *what =
            findFault(program, entry, *launch.operands()->Get(i)))
      return fault("has an operand ", i, " that ", what);
  return {};
}

static Check checkEntry(const artifact::Program &program,
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
  for (uint32_t i = 0; i < entry.launches()->size(); ++i)
    if (Check error = checkLaunch(program, entry, i))
      return error;
  return {};
}

/// The entry of `kind` that takes most rows; null when there is none.
static const artifact::Entry *findLargest(const artifact::Program &program,
                                          artifact::EntryKind kind) {
  const artifact::Entry *largest = nullptr;
  for (const artifact::Entry *entry : *program.entries())
    if (entry->kind() == kind && (!largest || entry->rows() > largest->rows()))
      largest = entry;
  return largest;
}

Check rt::checkEntries(const artifact::Program &program) {
  if (program.entries()->size() > kMaxEntries)
    return badData("the file lists ", program.entries()->size(),
                   " entries, but at most ", kMaxEntries, " are expected");
  std::set<std::string_view> names;
  std::set<std::pair<artifact::EntryKind, uint32_t>> sizes;
  for (const artifact::Entry *entry : *program.entries()) {
    if (Check error = checkEntry(program, *entry))
      return error;
    std::string_view name = entry->name()->string_view();
    if (!names.insert(name).second)
      return badData("two entries are called '", name, "'");
    if (!sizes.insert({entry->kind(), entry->rows()}).second)
      return badData("entry '", name, "' is the second of its kind with ",
                     entry->rows(), " rows");
  }
  const artifact::Entry *prefill =
      findLargest(program, artifact::EntryKind::Prefill);
  if (!prefill || !findLargest(program, artifact::EntryKind::Decode))
    return badData("the file has no entry for ",
                   prefill ? "decode" : "prefill");
  // A piece of a longer prompt must be able to reach the next cut.
  if (prefill->rows() < prefill->chunk())
    return badData("the largest prefill entry takes ", prefill->rows(),
                   " rows, fewer than its chunk of ", prefill->chunk());
  return {};
}
