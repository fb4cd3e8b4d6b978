#include "frontend/TextMistakes.h"

#include "frontend/checkpoint/Refusal.h"

#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/StringExtras.h"

using namespace effc;
using namespace effc::frontend;

// The name that `rest` begins with, its sign and its dialect with it.
static llvm::StringRef wordOf(llvm::StringRef rest) {
  rest = rest.ltrim();
  size_t sign = llvm::StringRef("%#!@\"").contains(rest.take_front(1)) ? 1 : 0;
  return rest.take_front(sign + rest.drop_front(sign)
                                    .take_while([](char c) {
                                      return llvm::isAlnum(c) ||
                                             llvm::StringRef("_.$").contains(c);
                                    })
                                    .size());
}

// With the name of an op that fewest changes of letters make of it.
static std::string unknownOp(llvm::StringRef name, mlir::MLIRContext &context) {
  llvm::StringRef nearest, last = name.substr(name.rfind('.') + 1);
  // More changes make another word; the dialect may be left out or be another.
  unsigned fewest = last.size() / 3 + 1;
  constexpr size_t kLongestName = 64;
  for (mlir::RegisteredOperationName known :
       context.getRegisteredOperations()) {
    llvm::StringRef full = known.getStringRef();
    if (known.getDialectNamespace() != "seq" || last.size() > kLongestName)
      continue;
    unsigned changes = full.split('.').second.edit_distance(last);
    // Among equals, the order of the context does not matter.
    if (changes < fewest ||
        (changes == fewest && !nearest.empty() && full < nearest)) {
      fewest = changes;
      nearest = full;
    }
  }
  std::string text = "there is no op " + quote(name) +
                     " in a model: expects ops of the 'seq' dialect";
  if (!nearest.empty())
    text += ", perhaps " + quote(nearest);
  return text;
}

std::string frontend::explainMistake(llvm::StringRef said, llvm::StringRef rest,
                                     mlir::MLIRContext &context) {
  llvm::StringRef word = wordOf(rest).trim('"');
  if ((said.starts_with("custom op '") && said.contains(" is unknown")) ||
      said.contains(" not found for custom op '"))
    return unknownOp(word, context);
  // It stands behind the name.
  if (said.starts_with("operation being parsed with an unregistered dialect"))
    return "expects ops of the 'seq' dialect, but got one of a dialect that is "
           "not known";
  if (said.starts_with("use of undeclared SSA value name"))
    return "nothing before this line defines " + quote(word) +
           " (a step of 'seq.recurrence' sees its own names only)";
  if (said.starts_with("expected non-function type"))
    return "expects a type such as tensor<?x6xf32>, but got " + quote(word);
  if (said.starts_with("block with no terminator"))
    return "expects 'return' at the end of a function and 'seq.yield' at the "
           "end of a step, but got another op";
  if (said.contains("created with unregistered dialect"))
    return "expects types and attributes of the 'seq' dialect, but got one of "
           "a dialect that is not known";
  return said.rtrim().str();
}
