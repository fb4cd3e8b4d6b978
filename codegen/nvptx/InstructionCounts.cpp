#include "codegen/nvptx/InstructionCounts.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace mlir;

/// The lines between the braces of a kernel.
static StringRef bodyOf(StringRef ptx, StringRef kernel) {
  size_t at = ptx.find((".entry " + kernel + "(").str());
  if (at == StringRef::npos)
    return "";
  StringRef rest = ptx.drop_front(at);
  rest = rest.drop_front(std::min(rest.find("\n{"), rest.size()));
  return rest.take_front(rest.find("\n}"));
}

/// The bits that "ld.global.v4.b32" moves.
static int64_t widthOf(ArrayRef<StringRef> parts) {
  int64_t count = 1, bits = 0;
  for (StringRef part : parts) {
    int64_t number;
    if (part.consume_front("v") && !part.getAsInteger(10, number))
      count = number;
    else if (part.size() > 1 && StringRef("bfsu").contains(part[0]) &&
             !part.drop_front().getAsInteger(10, number))
      bits = number;
  }
  return count * bits;
}

/// The kind that an opcode is counted as; empty: none.
static std::string kindOf(StringRef opcode) {
  // The longest beginning that fits comes first.
  static constexpr std::pair<StringLiteral, StringLiteral> kKinds[] = {
      {"mma.sync", "mma"},          {"wgmma.mma_async", "wgmma"},
      {"cp.async.bulk.commit", ""}, {"cp.async.bulk.wait", ""},
      {"cp.async.bulk", "tma"},     {"cp.async.ca", "cp.async"},
      {"cp.async.cg", "cp.async"},  {"ldmatrix", "ldmatrix"},
      {"ex2.approx", "ex2"},        {"fma.rn", "fma"},
      {"bar.sync", "bar.sync"},     {"barrier.sync", "bar.sync"},
      {"mbarrier", "mbarrier"},     {"shfl.sync", "shfl"}};
  for (auto [start, kind] : kKinds)
    if (opcode.starts_with(start))
      return kind.str();
  SmallVector<StringRef> parts;
  opcode.split(parts, '.');
  if (parts[0] != "ld" && parts[0] != "st")
    return "";
  for (StringRef space : parts)
    // "shared::cta" is shared memory too.
    if (space == "global" || space.starts_with("shared"))
      return (parts[0] + "." +
              space.take_until([](char c) { return c == ':'; }) + "." +
              Twine(widthOf(parts)))
          .str();
  return "";
}

DictionaryAttr effc::nvptx::countInstructions(StringRef ptx, StringRef kernel,
                                              MLIRContext *context) {
  std::map<std::string, int64_t> counts;
  StringRef body = bodyOf(ptx, kernel);
  while (!body.empty()) {
    StringRef line;
    std::tie(line, body) = body.split('\n');
    line = line.trim();
    if (line.consume_front("@")) // under a condition
      line = line.drop_until(llvm::isSpace).ltrim();
    std::string kind = kindOf(
        line.take_until([](char c) { return llvm::isSpace(c) || c == ';'; }));
    if (!kind.empty())
      ++counts[kind];
  }
  Builder b(context);
  SmallVector<NamedAttribute> found;
  for (const auto &[kind, count] : counts)
    found.push_back(b.getNamedAttr(kind, b.getI64IntegerAttr(count)));
  return b.getDictionaryAttr(found);
}
