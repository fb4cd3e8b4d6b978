// Remarks into a sibling file that gets its name at the end.
#include "compiler/RemarkFile.h"

#include "llvm/Support/FileSystem.h"

using namespace llvm;
using namespace effc;

static Error describe(StringRef path, std::error_code code) {
  if (!code)
    return Error::success();
  return createStringError("cannot write " + path + ": " + code.message());
}

Error RemarkFile::open(StringRef name) {
  path = name.str();
  if (path.empty() || path == "-")
    return Error::success();
  if (sys::fs::exists(path) && !sys::fs::is_regular_file(path)) {
    std::error_code code;
    stream = std::make_unique<raw_fd_ostream>(path, code);
    return describe(path, code);
  }
  Expected<codegen::OutputFile> made = codegen::OutputFile::create(path);
  if (!made)
    return made.takeError();
  file.emplace(std::move(*made));
  return Error::success();
}

void RemarkFile::write(StringRef remark) {
  if (stream)
    *stream << remark;
  else if (!file)
    errs() << remark;
  else if (failure.empty())
    if (Error error = file->write(arrayRefFromStringRef(remark)))
      failure = toString(std::move(error));
}

Error RemarkFile::close() {
  if (stream) {
    stream->close();
    std::error_code code = stream->error();
    stream->clear_error(); // the stream would end the process over it
    return describe(path, code);
  }
  if (!failure.empty())
    return createStringError(failure);
  return file ? file->commit() : Error::success();
}
