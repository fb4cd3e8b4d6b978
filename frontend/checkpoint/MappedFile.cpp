#include "frontend/checkpoint/MappedFile.h"

#include "frontend/checkpoint/ForeignFile.h"
#include "frontend/checkpoint/Refusal.h"

#include "llvm/ADT/StringExtras.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

using namespace effc::frontend;

/// The system's words for `error`, lower case.
static std::string describeErrno(int error) {
  std::string text = std::generic_category().message(error);
  if (!text.empty() && llvm::isUpper(text[0]))
    text[0] = llvm::toLower(text[0]);
  return text;
}

static llvm::StringRef describeKind(mode_t mode) {
  if (S_ISDIR(mode))
    return "a directory";
  if (S_ISFIFO(mode))
    return "a pipe";
  if (S_ISCHR(mode) || S_ISBLK(mode))
    return "a device";
  if (S_ISSOCK(mode))
    return "a socket";
  return "something else";
}

llvm::Expected<std::unique_ptr<MappedFile>>
MappedFile::open(llvm::StringRef path, llvm::StringRef name) {
  std::unique_ptr<MappedFile> file(new MappedFile());
  file->name = name.str();
  // O_NONBLOCK: a FIFO without a writer must not hold us up.
  do
    file->descriptor = ::open(path.str().c_str(),
                              O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  while (file->descriptor < 0 && errno == EINTR);
  if (file->descriptor < 0)
    return refuse("cannot open " + quote(path) + ": " + describeErrno(errno));
  struct stat status;
  if (fstat(file->descriptor, &status) != 0)
    return refuse("cannot examine " + quote(path) + ": " +
                  describeErrno(errno));
  if (!S_ISREG(status.st_mode))
    return refuse("expects " + quote(path) + " to be a file, but got " +
                  describeKind(status.st_mode));
  file->bytes = status.st_size;
  file->modified = status.st_mtim;
  if (file->bytes == 0)
    return file;
  void *address =
      mmap(nullptr, file->bytes, PROT_READ, MAP_PRIVATE, file->descriptor, 0);
  if (address == MAP_FAILED)
    return refuse("cannot map " + quote(path) + ": " + describeErrno(errno));
  file->address = static_cast<const uint8_t *>(address);
  file->guard = std::make_unique<BusErrorGuard>();
  if (!file->guard->cover(address, file->bytes))
    return refuse("cannot map " + quote(path) + ": " +
                  llvm::Twine(kMostGuardedRanges) +
                  " files are mapped already");
  return file;
}

MappedFile::~MappedFile() {
  guard.reset();
  if (address)
    munmap(const_cast<uint8_t *>(address), bytes);
  if (descriptor >= 0)
    close(descriptor);
}

llvm::Error MappedFile::checkUnchanged() const {
  struct stat status;
  if (fstat(descriptor, &status) != 0)
    return refuse(name + ": cannot be examined: " + describeErrno(errno));
  if (uint64_t(status.st_size) != bytes)
    return refuse(name + ": had " + llvm::Twine(bytes) +
                  " bytes when it was opened and has " +
                  llvm::Twine(uint64_t(status.st_size)) + " now");
  if (status.st_mtim.tv_sec != modified.tv_sec ||
      status.st_mtim.tv_nsec != modified.tv_nsec ||
      (guard && guard->hasFaulted()))
    return refuse(name + ": was written to while it was read");
  return llvm::Error::success();
}

llvm::Error MappedFile::checkRange(uint64_t offset, uint64_t count) const {
  if (offset <= bytes && count <= bytes - offset)
    return checkUnchanged();
  return refuse(name + ": expects " + llvm::Twine(count) + " bytes at offset " +
                llvm::Twine(offset) + ", but the file has " +
                llvm::Twine(bytes));
}

llvm::Error MappedFile::read(uint64_t offset,
                             llvm::MutableArrayRef<uint8_t> out) const {
  if (llvm::Error error = checkRange(offset, out.size()))
    return error;
  while (!out.empty()) {
    ssize_t count = pread(descriptor, out.data(), out.size(), offset);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return refuse(name + ": cannot be read: " + describeErrno(errno));
    if (count == 0)
      return refuse(name + ": ends at byte " + llvm::Twine(offset) +
                    " now, and had " + llvm::Twine(bytes) +
                    " bytes when it was opened");
    offset += count;
    out = out.drop_front(count);
  }
  return llvm::Error::success();
}

llvm::Expected<llvm::ArrayRef<uint8_t>> MappedFile::view(uint64_t offset,
                                                         uint64_t count) const {
  if (llvm::Error error = checkRange(offset, count))
    return error;
  if (count == 0)
    return llvm::ArrayRef<uint8_t>();
  guard->rearm();
  return llvm::ArrayRef<uint8_t>(address + offset, count);
}

llvm::Expected<uint64_t> MappedFile::checksum() const {
  constexpr uint64_t kBlockBytes = uint64_t(1) << 20;
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(
      XXH3_createState(), XXH3_freeState);
  XXH3_64bits_reset(state.get());
  std::vector<uint8_t> block(std::min(kBlockBytes, bytes));
  for (uint64_t offset = 0; offset < bytes; offset += block.size()) {
    block.resize(std::min<uint64_t>(block.size(), bytes - offset));
    if (llvm::Error error = read(offset, block))
      return error;
    XXH3_64bits_update(state.get(), block.data(), block.size());
  }
  return XXH3_64bits_digest(state.get());
}

llvm::Expected<std::string> effc::frontend::readTextFile(llvm::StringRef path,
                                                         llvm::StringRef name,
                                                         uint64_t mostBytes) {
  auto file = MappedFile::open(path, name);
  if (!file)
    return file.takeError();
  if ((*file)->size() > mostBytes)
    return refuse(name + ": expects at most " + llvm::Twine(mostBytes) +
                  " bytes, but got " + llvm::Twine((*file)->size()));
  std::string text((*file)->size(), '\0');
  if (llvm::Error error = (*file)->read(
          0, llvm::MutableArrayRef<uint8_t>(
                 reinterpret_cast<uint8_t *>(text.data()), text.size())))
    return error;
  std::string foreign = explainForeign(
      llvm::arrayRefFromStringRef(text).take_front(kForeignBytes));
  if (!foreign.empty())
    return refuse(name + ": is " + foreign);
  return text;
}
