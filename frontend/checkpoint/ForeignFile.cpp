#include "frontend/checkpoint/ForeignFile.h"

#include "frontend/checkpoint/Refusal.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace effc::frontend;

namespace {
struct Start {
  llvm::StringLiteral bytes, is;
};
} // namespace

// From the specification of Git LFS, of GGUF, PKWARE's of ZIP, and Python's
// pickletools (protocols 2 to 5).
static constexpr Start kStarts[] = {
    {"version https://git-lfs", "a Git LFS pointer in the place of the file: "
                                "fetch the file itself (git lfs pull)"},
    {"/annex/objects/", "a git-annex pointer in the place of the file: fetch "
                        "the file itself (git annex get)"},
    {"GGUF", "a GGUF file, which has all of a model: name it in the place of "
             "the directory"},
    {"PK\x03\x04", "a ZIP file, as torch.save writes: convert it to "
                   "safetensors (tools/convert_pickle.py)"},
    {"\x80\x02", "a Python pickle: convert it to safetensors "
                 "(tools/convert_pickle.py)"},
    {"\x80\x04", "a Python pickle: convert it to safetensors "
                 "(tools/convert_pickle.py)"},
    {"\x80\x05", "a Python pickle: convert it to safetensors "
                 "(tools/convert_pickle.py)"},
    {"<!DOCTYPE", "a web page in the place of the file: download it again"},
    {"<!doctype", "a web page in the place of the file: download it again"},
    {"<html", "a web page in the place of the file: download it again"},
    {"\x1f\x8b", "a gzip file: unpack it"},
};

std::string effc::frontend::explainForeign(llvm::ArrayRef<uint8_t> start) {
  llvm::StringRef text(reinterpret_cast<const char *>(start.data()),
                       start.size());
  for (const Start &known : kStarts)
    if (text.starts_with(known.bytes))
      return known.is.str();
  return "";
}

std::string
effc::frontend::explainForeignBinary(llvm::ArrayRef<uint8_t> start) {
  if (std::string known = explainForeign(start); !known.empty())
    return known;
  llvm::StringRef text(reinterpret_cast<const char *>(start.data()),
                       start.size());
  // What a server answers in the place of a file: "Entry not found".
  llvm::StringRef line = text.take_front(40).split('\n').first.rtrim();
  bool isText = line.size() >= 8 && llvm::all_of(line, llvm::isPrint);
  return isText ? "text in the place of the file, which begins " + quote(line) +
                      ": download it again"
                : "";
}

/// What is given in the place of a directory, by the ending.
static std::string explainEnding(llvm::StringRef path) {
  struct Ending {
    llvm::StringLiteral ending, is;
  };
  constexpr llvm::StringLiteral kOfDirectory =
      "a file of a checkpoint: name the directory that it is in";
  constexpr Ending kEndings[] = {
      {".safetensors", kOfDirectory},
      {".json", kOfDirectory},
      {".model", kOfDirectory},
      {".effc", "a compiled model: effc run takes it"},
      {".onnx", "an ONNX graph, which is not read: take the checkpoint that it "
                "was exported from"},
      {".tar", "an archive: unpack it"},
      {".zip", "an archive: unpack it"}};
  for (const Ending &known : kEndings)
    if (path.ends_with_insensitive(known.ending))
      return known.is.str();
  return "another file";
}

/// "org/name", as hubs call a model: two words of letters, digits, '-', '_' and
/// '.', or an address.
static bool isHubName(llvm::StringRef path) {
  if (path.contains("://"))
    return true;
  auto [owner, name] = path.split('/');
  auto isWord = [](llvm::StringRef word) {
    return !word.empty() && word != "." && word != ".." &&
           llvm::all_of(word, [](char c) {
             return llvm::isAlnum(c) || c == '-' || c == '_' || c == '.';
           });
  };
  return isWord(owner) && isWord(name);
}

llvm::Error effc::frontend::refuseAsModel(llvm::StringRef path) {
  llvm::sys::fs::file_status status;
  if (std::error_code error = llvm::sys::fs::status(path, status)) {
    std::string text = "cannot open " + quote(path) + ": " +
                       llvm::StringRef(error.message()).lower();
    if (isHubName(path))
      text += "; of a model on a hub, download the files first (hf download " +
              path.str() + " --local-dir DIR) and name their directory";
    return refuse(text);
  }
  std::string is;
  if (auto file = llvm::sys::fs::openNativeFileForRead(path)) {
    char start[kForeignBytes];
    auto count = llvm::sys::fs::readNativeFile(*file, start);
    if (count)
      is = explainForeign(
          llvm::ArrayRef(reinterpret_cast<const uint8_t *>(start), *count));
    else
      llvm::consumeError(count.takeError());
    (void)llvm::sys::fs::closeFile(*file);
  } else {
    llvm::consumeError(file.takeError());
  }
  if (is.empty())
    is = explainEnding(path);
  return refuse(
      "expects " + quote(path) +
      " to be a checkpoint's directory, a GGUF file or a .mlir file, but got " +
      is);
}
