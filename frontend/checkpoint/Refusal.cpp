#include "frontend/checkpoint/Refusal.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

using namespace effc;

llvm::Error frontend::refuse(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

std::string frontend::quote(llvm::StringRef text, char mark) {
  constexpr size_t kMost = 120;
  std::string out(1, mark);
  size_t at = 0;
  while (at < text.size()) {
    if (out.size() > kMost) {
      out += "...";
      break;
    }
    const auto *bytes = reinterpret_cast<const llvm::UTF8 *>(text.data()) + at;
    size_t length = llvm::getNumBytesForUTF8(*bytes);
    bool whole = length <= text.size() - at &&
                 llvm::isLegalUTF8Sequence(bytes, bytes + length);
    bool control = *bytes < 0x20 || *bytes == 0x7f;
    if (whole && !control) {
      out += text.substr(at, length);
      at += length;
      continue;
    }
    out += "\\x" + llvm::utohexstr(*bytes, /*LowerCase=*/true, /*Width=*/2);
    ++at;
  }
  return out + mark;
}
