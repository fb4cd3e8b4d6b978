#include "compiler/SourceLines.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <optional>

using namespace llvm;

namespace {
struct Place {
  size_t line, column; // from 1
};
} // namespace

// Of "PATH:LINE:COLUMN: ...".
static std::optional<Place> placeIn(StringRef message, StringRef path) {
  StringRef name = sys::path::filename(path);
  if (!message.consume_front(path) && !message.consume_front(name))
    return std::nullopt;
  Place place;
  if (!message.consume_front(":") || message.consumeInteger(10, place.line) ||
      !message.consume_front(":") || message.consumeInteger(10, place.column) ||
      !message.starts_with(":") || place.line == 0 || place.column == 0)
    return std::nullopt;
  return place;
}

std::string effc::withSourceLine(StringRef message, StringRef path) {
  auto [first, notes] = message.split('\n');
  std::optional<Place> place = placeIn(first, path);
  if (!place)
    return message.str();
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!file)
    return message.str();
  StringRef text = (*file)->getBuffer();
  for (size_t line = 1; line < place->line; ++line)
    text = text.split('\n').second;
  text = text.take_until([](char c) { return c == '\n' || c == '\r'; });
  // What stands in no line, as a module that is not spelled out, is given the
  // first.
  if (text.empty() || place->column > text.size() + 1 || text.starts_with("//"))
    return message.str();
  // Of a long line, what stands around the column.
  constexpr size_t kWidest = 120, kBefore = 40;
  size_t column = place->column - 1;
  size_t skipped = text.size() <= kWidest ? 0
                   : column > kBefore     ? column - kBefore
                                          : 0;
  std::string shown = text.substr(skipped, kWidest).str();
  std::replace(shown.begin(), shown.end(), '\t', ' ');
  std::string whole = first.str() + "\n  " + shown + "\n  " +
                      std::string(column - skipped, ' ') + "^";
  if (!notes.empty())
    whole += "\n" + notes.str();
  return whole;
}
