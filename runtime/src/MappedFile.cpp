#include "runtime/src/MappedFile.h"

#include "runtime/src/system/SystemMemory.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace effc::rt;

/// Of memory that one byte of page tables stands for: 8 bytes for a page of 4096.
/// Control groups count them.
static constexpr uint64_t kBytesOfPageTables = 512;
/// What a process takes beside a copy at the least: its heap, and what a call of
/// a small model leaves there. A model of 600000 tokens took 6 MiB.
static constexpr uint64_t kBesideACopy = uint64_t(8) << 20;

Mapping::~Mapping() {
  if (base)
    munmap(base, mapped);
}

Result<Mapping> Mapping::anonymous(uint64_t size, const char *what) {
  Mapping mapping;
  mapping.mapped = size ? size : 1;
  void *base = mmap(nullptr, mapping.mapped, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED)
    return fail(EFFC_OUT_OF_MEMORY, "cannot reserve ", size, " bytes for ",
                what);
  mapping.base = base;
  mapping.start = static_cast<uint8_t *>(base);
  mapping.length = size;
  return mapping;
}

void Mapping::release(uint64_t offset, uint64_t size) {
  uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  uint64_t begin = (offset + page - 1) / page * page;
  uint64_t end = (offset + size) / page * page;
  // A failure costs memory and nothing else.
  if (begin < end)
    madvise(start + begin, end - begin, MADV_DONTNEED);
}

void Mapping::populate(uint64_t offset, uint64_t size) {
#ifdef MADV_POPULATE_WRITE
  uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  uint64_t begin = offset / page * page;
  if (size > 0)
    madvise(start + begin, offset + size - begin, MADV_POPULATE_WRITE);
#endif
}

void Mapping::commitSmallPages() {
  if (length > 0)
    madvise(base, mapped, MADV_NOHUGEPAGE); // fails where there are no others
}

void Mapping::commitHugePages() {
  if (length > 0)
    madvise(base, mapped, MADV_HUGEPAGE); // fails where there are none
}

MappedFile::~MappedFile() {
  if (descriptor >= 0)
    close(descriptor);
}

Result<MappedFile> MappedFile::open(const std::string &path, Access access) {
  MappedFile file;
  file.access = access;
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  file.descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file.descriptor < 0)
    return fail(EFFC_IO_ERROR, "cannot open '", path,
                "': ", std::strerror(errno));
  struct stat info;
  if (fstat(file.descriptor, &info) != 0)
    return fail(EFFC_IO_ERROR, "cannot read '", path,
                "': ", std::strerror(errno));
  if (!S_ISREG(info.st_mode))
    return fail(EFFC_IO_ERROR, "'", path, "' is not a regular file");
  uint64_t size = static_cast<uint64_t>(info.st_size);
  if (size == 0)
    return fail(EFFC_BAD_DATA, "'", path, "' is empty");
  if (Check error = access == Access::Mapped ? file.map(path, size)
                                             : file.copy(path, size))
    return *error;
  return file;
}

Check MappedFile::map(const std::string &path, uint64_t size) {
  void *base = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (base == MAP_FAILED)
    return fail(EFFC_IO_ERROR, "cannot map '", path,
                "': ", std::strerror(errno));
  contents.base = base;
  contents.mapped = size;
  contents.start = static_cast<uint8_t *>(base);
  contents.length = size;
  return {};
}

Check MappedFile::copy(const std::string &path, uint64_t size) {
  // Reserving succeeds in any case, and filling the pages ends the process.
  uint64_t needed = size + size / kBytesOfPageTables + kBesideACopy;
  if (uint64_t left = memoryLeft(); needed > left)
    return fail(EFFC_OUT_OF_MEMORY, "a copy of '", path, "' takes ", needed,
                " bytes with what goes with it, but of the ", systemMemory(),
                " bytes that the system grants this process ", left,
                " are left; a file that is mapped in place of copied takes "
                "none of them");
  Result<Mapping> memory = Mapping::anonymous(size, "a copy of the file");
  if (!memory)
    return memory.error();
  for (uint64_t done = 0; done < size;) {
    ssize_t count = pread(descriptor, memory->data() + done, size - done,
                          static_cast<off_t>(done));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return fail(EFFC_IO_ERROR, "cannot read '", path,
                  "': ", std::strerror(errno));
    if (count == 0)
      return fail(EFFC_IO_ERROR, "'", path, "' had ", size,
                  " bytes when it was opened and ends at byte ", done, " now");
    done += static_cast<uint64_t>(count);
  }
  contents = std::move(*memory);
  return {};
}

Result<Mapping> MappedFile::copyExecutable(uint64_t offset,
                                           uint64_t size) const {
  Result<Mapping> code = Mapping::anonymous(size, "the file's code");
  if (!code)
    return code.error();
  std::memcpy(code->data(), contents.data() + offset, size);
  // Where caches of data and of instructions are apart, as Arm's are, the second one
  // knows nothing of it yet. The system sees to it where it maps pages of a file.
  auto *begin = reinterpret_cast<char *>(code->data());
  __builtin___clear_cache(begin, begin + size);
  if (mprotect(code->data(), size, PROT_READ | PROT_EXEC) != 0)
    return fail(EFFC_IO_ERROR, "cannot make the file's code executable: ",
                std::strerror(errno));
  return code;
}

Result<Mapping> MappedFile::mapExecutable(uint64_t offset,
                                          uint64_t size) const {
  if (access == Access::Copied)
    return copyExecutable(offset, size);
  // Pages may be larger than the 4096 bytes that segments are aligned to.
  uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  uint64_t lead = offset % page;
  Mapping code;
  code.mapped = lead + size;
  void *base = mmap(nullptr, code.mapped, PROT_READ | PROT_EXEC, MAP_PRIVATE,
                    descriptor, static_cast<off_t>(offset - lead));
  if (base == MAP_FAILED)
    return fail(EFFC_IO_ERROR, "cannot map the file's code as executable: ",
                std::strerror(errno),
                errno == EPERM ? " (is its file system mounted noexec?)" : "");
  code.base = base;
  code.start = static_cast<uint8_t *>(base) + lead;
  code.length = size;
  return code;
}
