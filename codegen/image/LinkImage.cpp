// Object file -> flat image, by ld.lld with a script that gathers everything
// that is loaded into one section.
#include "codegen/TemporaryPlace.h"
#include "codegen/image/Image.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/DataExtractor.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace effc::image;

static const char *const kScript = R"(SECTIONS {
  . = 0;
  .image : ALIGN($) { *(.text .text.*) . = ALIGN(64); *(.rodata .rodata.*) }
  .stack_sizes : { *(.stack_sizes) }
}
)";

// Arm's code finds constants by the page of 4096 bytes that they lie in, counted from
// its own, so that its image begins with one, as it does where it is mapped.
static Expected<std::string> scriptFor(MemoryBufferRef input) {
  auto file = object::ELFObjectFile<object::ELF64LE>::create(input);
  if (!file)
    return file.takeError();
  auto [before, after] = StringRef(kScript).split('$');
  return (before + (file->getArch() == Triple::aarch64 ? "4096" : "1") + after)
      .str();
}

static Expected<std::string> findLinker() {
  std::string beside = EFFC_LLD_DIRECTORY;
  for (StringRef name : {"ld.lld-22", "ld.lld"}) {
    if (ErrorOr<std::string> path = sys::findProgramByName(name))
      return *path;
    if (ErrorOr<std::string> path = sys::findProgramByName(name, {beside}))
      return *path;
  }
  return createStringError(
      "the host target needs ld.lld (Debian package lld-22), which is "
      "neither on the PATH nor in " +
      beside);
}

static Error writeFile(StringRef path, StringRef content) {
  std::error_code code;
  raw_fd_ostream stream(path, code);
  stream << content;
  stream.close();
  if (!code)
    code = stream.error();
  stream.clear_error(); // the stream would end the process over it
  if (code)
    return createStringError("cannot write " + path + ": " + code.message());
  return Error::success();
}

// Reads entry points, stack sizes and bytes from the linked file.
static Expected<Image> extract(MemoryBufferRef linked) {
  auto file = object::ELFObjectFile<object::ELF64LE>::create(linked);
  if (!file)
    return file.takeError();
  Image image;
  uint64_t imageAddress = 0; // the linker puts its own tables before the image
  DenseMap<uint64_t, uint64_t> stackSizes;
  for (const object::ELFSectionRef section : file->sections()) {
    Expected<StringRef> name = section.getName();
    Expected<StringRef> content = section.getContents();
    if (!name || !content)
      return createStringError("ld.lld wrote a section that cannot be read");
    if (*name == ".image") {
      image.bytes.assign(content->bytes_begin(), content->bytes_end());
      imageAddress = section.getAddress();
    }
    if ((*name == ".rela.dyn" || *name == ".rela.plt") && !content->empty())
      return createStringError(
          "the host code needs relocations when it is loaded");
    if (*name != ".stack_sizes")
      continue;
    DataExtractor data(*content, /*IsLittleEndian=*/true, /*AddressSize=*/8);
    uint64_t at = 0;
    while (at < content->size()) {
      uint64_t address = data.getU64(&at);
      stackSizes[address] = data.getULEB128(&at);
    }
  }
  // Of x86-64; on Arm a frame has its return address, and there is no red zone.
  const uint64_t besideFrame = file->getArch() == Triple::x86_64 ? 8 + 128 : 0;
  for (const object::ELFSymbolRef symbol : file->symbols()) {
    Expected<object::SymbolRef::Type> type = symbol.getType();
    Expected<StringRef> name = symbol.getName();
    Expected<uint64_t> address = symbol.getAddress();
    if (!type || !name || !address || *type != object::SymbolRef::ST_Function)
      continue;
    image.functions[*name] = {*address - imageAddress,
                              stackSizes.lookup(*address) + besideFrame};
  }
  return image;
}

Expected<Image> effc::image::linkImage(MemoryBufferRef object) {
  Expected<std::string> linker = findLinker();
  if (!linker)
    return linker.takeError();
  SmallString<128> folder;
  if (std::error_code code =
          sys::fs::createUniqueDirectory("effc-link", folder))
    return codegen::refuseTemporary("folder", code);
  auto cleanUp = scope_exit([&] { sys::fs::remove_directories(folder); });
  auto path = [&](StringRef name) {
    SmallString<128> result(folder);
    sys::path::append(result, name);
    return std::string(result);
  };
  std::string input = path("kernels.o"), script = path("image.ld"),
              output = path("image.so"), log = path("log");
  if (Error error = writeFile(input, object.getBuffer()))
    return error;
  Expected<std::string> places = scriptFor(object);
  if (!places)
    return places.takeError();
  if (Error error = writeFile(script, *places))
    return error;
  SmallVector<StringRef> arguments = {*linker,
                                      "-shared",
                                      "--no-undefined",
                                      "--hash-style=sysv",
                                      "--build-id=none",
                                      "-T",
                                      script,
                                      "-o",
                                      output,
                                      input};
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(log),
                                          StringRef(log)};
  std::string reason;
  int status = sys::ExecuteAndWait(*linker, arguments, std::nullopt, redirects,
                                   0, 0, &reason);
  if (status != 0) {
    auto text = MemoryBuffer::getFile(log);
    return createStringError(
        "linking the host code failed: " +
        (text ? (*text)->getBuffer().split('\n').first.str() : reason));
  }
  auto linked = MemoryBuffer::getFile(output, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!linked)
    return createStringError("cannot read the linked code: " +
                             linked.getError().message());
  return extract((*linked)->getMemBufferRef());
}
