#include "runtime/src/Limits.h"
#include "runtime/src/ModelChecks.h"

#include <algorithm>
#include <string_view>

using namespace effc;
using namespace effc::rt;
using artifact::OperandKind;

namespace {
/// A launch, with what messages call it by and what it is held to.
struct Site {
  const artifact::Program &program;
  const Plan &plan;
  const artifact::Entry &entry;
  const artifact::Launch &launch;
  uint32_t index;

  const artifact::Kernel &kernel() const {
    return *plan.kernels->Get(launch.kernel());
  }
  template <typename... Parts> Error fault(const Parts &...parts) const {
    return badData("launch ", index, " of entry '", entry.name()->string_view(),
                   "' (kernel '", kernel().name()->string_view(), "') ",
                   parts...);
  }
};
} // namespace

/// Bytes from an operand's start to the end of what it may reach; of a state in one
/// slot. Its start is in order.
static uint64_t roomOf(const Site &site, uint32_t index) {
  const artifact::Operand &operand = *site.launch.operands()->Get(index);
  uint64_t rows = site.entry.rows();
  switch (operand.kind()) {
  case OperandKind::Arena:
    if (const auto *bytes = site.launch.operand_bytes())
      return bytes->Get(index);
    return site.entry.arena_bytes() - operand.offset();
  case OperandKind::Weight:
    return site.program.weights()->Get(operand.index())->size() -
           operand.offset();
  case OperandKind::State:
    return site.program.states()->Get(operand.index())->size() -
           operand.offset();
  case OperandKind::Tokens:
  case OperandKind::RowSlots:
  case OperandKind::OutputRows:
    return rows * sizeof(int32_t);
  case OperandKind::RowPositions:
    return rows * sizeof(int64_t);
  case OperandKind::Segments:
    return rows * sizeof(artifact::SegmentRecord);
  case OperandKind::Draws:
    return rows * sizeof(artifact::DrawRecord);
  case OperandKind::Logits:
    return rows * rowWidth(site.program) * sizeof(float);
  case OperandKind::Choices:
    return rows * 2 * sizeof(float);
  }
  return 0;
}

/// How far the parts of an operand are apart whatever the kernel thinks; 0 where
/// that is the kernel's affair.
static uint64_t strideOf(const Site &site, OperandKind kind) {
  switch (kind) {
  case OperandKind::State:
    return site.program.slot_bytes();
  case OperandKind::Logits:
    return rowWidth(site.program) * sizeof(float);
  case OperandKind::Choices:
    return 2 * sizeof(float);
  case OperandKind::Tokens:
  case OperandKind::RowSlots:
  case OperandKind::OutputRows:
    return sizeof(int32_t);
  case OperandKind::RowPositions:
    return sizeof(int64_t);
  case OperandKind::Segments:
    return sizeof(artifact::SegmentRecord);
  case OperandKind::Draws:
    return sizeof(artifact::DrawRecord);
  case OperandKind::Arena:
  case OperandKind::Weight:
    break;
  }
  return 0;
}

/// Where an operand lies in memory that starts at a page. Kernels read weights in
/// files of their own wherever these lie.
static uint64_t placeOf(const Site &site, const artifact::Operand &operand) {
  if (operand.kind() != OperandKind::Weight)
    return operand.offset();
  const artifact::Weight &weight =
      *site.program.weights()->Get(operand.index());
  return operand.offset() + (weight.file() ? 0 : weight.offset());
}

static Check checkExtent(const Site &site, uint32_t index) {
  const artifact::OperandExtent &extent = *site.kernel().extents()->Get(index);
  const artifact::Operand &operand = *site.launch.operands()->Get(index);
  OperandKind kind = operand.kind();
  if (!(extent.kinds() >> unsigned(kind) & 1))
    return site.fault("has an operand ", index, " of kind ",
                      artifact::EnumNameOperandKind(kind),
                      ", which the kernel does not take there");
  if (extent.alignment() > 1 &&
      placeOf(site, operand) % extent.alignment() != 0)
    return site.fault(
        "has an operand ", index, " at byte ", placeOf(site, operand),
        ", but the kernel expects a multiple of ", extent.alignment());
  uint64_t stride = extent.stride(), room = roomOf(site, index);
  if (uint64_t expected = strideOf(site, kind);
      expected && stride && stride != expected)
    return site.fault("has an operand ", index, " whose parts are ", expected,
                      " bytes apart, but the kernel expects ", stride);
  // Of a state each part is in a slot of its own.
  uint64_t parts =
      stride == 0 || kind == OperandKind::State ? 1 : site.entry.rows();
  if (extent.bytes() > room ||
      (parts > 1 && stride > (room - extent.bytes()) / (parts - 1)))
    return site.fault("has an operand ", index, " with ", room,
                      " bytes, but the kernel reaches ", parts, " times ",
                      extent.bytes(), " bytes that are ", stride, " apart");
  return {};
}

static bool sameItems(const artifact::Items &a, const artifact::Items &b) {
  return a.count() == b.count() && a.tile() == b.tile() &&
         a.times() == b.times();
}

/// What the kernel states of itself.
static Check checkStated(const Site &site) {
  const artifact::Kernel &kernel = site.kernel();
  if (!kernel.items())
    return badData("kernel '", kernel.name()->string_view(),
                   "' does not state its items");
  if (!sameItems(*kernel.items(), *site.launch.items()))
    return site.fault(
        "does other items than the kernel's: ", site.launch.items()->times(),
        " times for each ", site.launch.items()->tile(), ", but ",
        kernel.items()->times(), " for each ", kernel.items()->tile(),
        " are expected");
  if (site.entry.rows() > kernel.rows())
    return site.fault("is in an entry of ", site.entry.rows(),
                      " rows, but the kernel takes ", kernel.rows());
  if (kernel.decode_only() && site.entry.kind() != artifact::EntryKind::Decode)
    return site.fault("is in a prefill entry, but the kernel is for decoding");
  if (site.program.vocabulary_size() > kernel.vocabulary())
    return site.fault("is in a model of ", site.program.vocabulary_size(),
                      " tokens, but the kernel knows ", kernel.vocabulary());
  uint64_t context = site.program.max_context();
  if (kernel.max_context() && (context == 0 || context > kernel.max_context()))
    return site.fault("is in a model with a context of ",
                      context ? std::to_string(context) : "any length",
                      ", but the kernel has room for ", kernel.max_context());
  const auto *extents = kernel.extents();
  uint32_t stated = extents ? extents->size() : 0;
  if (stated != kernel.operands())
    return badData("kernel '", kernel.name()->string_view(), "' states ",
                   stated, " extents of ", kernel.operands(), " operands");
  if (stated && !isAligned(*extents))
    return badData("kernel '", kernel.name()->string_view(),
                   "' has extents that are not aligned");
  for (uint32_t i = 0; i < stated; ++i)
    if (Check error = checkExtent(site, i))
      return error;
  return {};
}

/// An item that touches nothing has no use, so there are no more of them than
/// bytes.
static Check checkItems(const Site &site) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < site.launch.operands()->size(); ++i)
    bytes += roomOf(site, i);
  if (site.launch.items()->times() > bytes)
    return site.fault("does ", site.launch.items()->times(),
                      " items for each tile, but its operands have ", bytes,
                      " bytes");
  return {};
}

/// A kernel that takes tokens looks them up in a table, or in several.
static Check checkTable(const Site &site) {
  uint64_t most = 0;
  bool takesTokens = false;
  for (const artifact::Operand *operand : *site.launch.operands()) {
    takesTokens |= operand->kind() == OperandKind::Tokens;
    if (operand->kind() == OperandKind::Weight) {
      const auto &shape =
          *site.program.weights()->Get(operand->index())->shape();
      most = std::max(most, shape.size() > 1 ? shape.Get(0) : 0);
    }
  }
  if (takesTokens && most && most < site.program.vocabulary_size())
    return site.fault("looks tokens up in a table of ", most,
                      " rows, but the vocabulary has ",
                      site.program.vocabulary_size());
  return {};
}

Check rt::checkLaunches(const artifact::Program &program, const Plan &plan) {
  for (const artifact::Entry *entry : *plan.entries) {
    bool takesTokens = false;
    for (uint32_t i = 0; i < entry->launches()->size(); ++i) {
      const artifact::Launch &launch = *entry->launches()->Get(i);
      Site site{program, plan, *entry, launch, i};
      if (Check error = checkStated(site))
        return error;
      if (Check error = checkItems(site))
        return error;
      if (Check error = checkTable(site))
        return error;
      for (const artifact::Operand *operand : *launch.operands())
        takesTokens |= operand->kind() == OperandKind::Tokens;
    }
    if (!takesTokens)
      return badData("entry '", entry->name()->string_view(),
                     "' has no launch that takes tokens");
  }
  return {};
}
