#include "frontend/TextMistakes.h"

#include "frontend/checkpoint/NearestName.h"
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

// The ops that have the most letters in a row in common with a name, few and in
// the order of the alphabet; none where fewer than four letters are.
static std::vector<std::string> akin(llvm::StringRef name,
                                     mlir::MLIRContext &context) {
  constexpr size_t kFewestLetters = 4, kMostNames = 4;
  std::vector<std::string> names;
  size_t most = kFewestLetters;
  for (mlir::RegisteredOperationName known :
       context.getRegisteredOperations()) {
    if (known.getDialectNamespace() != "seq")
      continue;
    llvm::StringRef own = known.getStringRef().split('.').second;
    size_t common = 0;
    for (size_t from = 0; from < name.size(); ++from)
      while (from + common < name.size() &&
             own.contains(name.substr(from, common + 1)))
        ++common;
    if (common < most)
      continue;
    if (common > most)
      names.clear();
    most = common;
    names.push_back(quote(known.getStringRef()));
  }
  llvm::sort(names);
  if (names.size() > kMostNames)
    names.resize(kMostNames);
  return names;
}

// With the name of an op that fewest changes of letters make of it.
static std::string unknownOp(llvm::StringRef name, mlir::MLIRContext &context) {
  // The dialect may be left out or be another; a third is another word.
  llvm::StringRef last = name.substr(name.rfind('.') + 1);
  constexpr size_t kLongestName = 64;
  bool isReadable = last.size() <= kLongestName;
  NearestName nearest(last, last.size() / 3);
  for (mlir::RegisteredOperationName known : context.getRegisteredOperations())
    if (isReadable && known.getDialectNamespace() == "seq")
      nearest.consider(known.getStringRef().split('.').second);
  std::string text = "there is no op " + quote(name) +
                     " in a model: expects ops of the 'seq' dialect";
  if (!nearest.get().empty())
    return text + ", perhaps " + quote("seq." + nearest.get().str());
  if (isReadable)
    if (std::vector<std::string> names = akin(last, context); !names.empty())
      text += "; akin are " + llvm::join(names, ", ");
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
