// Any bytes as the program of an artifact whose other parts (code, weights,
// tokenizer) are sound, with right checksums in the header: refused with one
// line, or a model that can be asked everything and made ready to run, in work
// that is bounded by what the program names. It is not run: what kernels are
// given is as trusted as they are. The bytes around the program are the business
// of DamageTest, which tries every one of them.
#include "runtime/abi/FileHeader.h"
#include "runtime/src/Engine.h"
#include "runtime/src/Limits.h"
#include "runtime/src/devices/host/HostDevice.h"
#include "test/fuzz/WorkCounter.h"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace effc;
using namespace effc::rt;

static const std::vector<uint8_t> &toy() {
  static const std::vector<uint8_t> bytes =
      test::makeToyArtifact(test::toyWithTarget());
  return bytes;
}

/// Where the toy's first segment starts: so much room a program has.
static size_t programRoom() {
  size_t room = toy().size();
  const auto *program = artifact::GetProgram(toy().data() + FileHeader::kBytes);
  for (const artifact::Segment *segment : *program->segments())
    room = std::min<size_t>(room, segment->offset());
  return room - FileHeader::kBytes;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

/// Starts from the toy's program where there is nothing to start from.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t most, unsigned) {
  FileHeader header = FileHeader::decode(toy().data());
  if (size < 16 && header.programSize <= most) {
    std::memcpy(data, toy().data() + header.programOffset, header.programSize);
    size = header.programSize;
  }
  return LLVMFuzzerMutate(data, size, most);
}

/// Reads that a program of `size` bytes may take: for each table as often as it
/// is named, when the buffer is verified, and for each byte as often as it is
/// named, in all that follows. A table's verification takes some dozens.
static uint64_t mostReads(uint64_t size) {
  constexpr uint64_t kReadsOfTable = 64, kReadsOfByte = 16;
  return kReadsOfTable * kMaxTables +
         kReadsOfByte * (kFreeSharedBytes + kMostSharing * size);
}

static void expectOneLine(const Error &error) {
  if (error.code == EFFC_INTERNAL || error.message.empty() ||
      error.message.find('\n') != std::string::npos)
    __builtin_trap();
}

static void openAll(const std::string &path,
                    const std::shared_ptr<Device> &device) {
  Result<std::shared_ptr<const Model>> model = Model::load(path);
  if (!model) {
    expectOneLine(model.error());
    return;
  }
  if ((*model)->description().empty())
    __builtin_trap();
  if (Check error = (*model)->checkSegmentsAndWeights(nullptr, nullptr))
    expectOneLine(*error);
  auto engine = Engine::create(*model, device, 2);
  if (!engine)
    expectOneLine(engine.error());
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const size_t room = programRoom();
  static const int file = memfd_create("artifact", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  static std::shared_ptr<Device> device = *HostDevice::create(1);
  if (size > room)
    return 0;
  std::vector<uint8_t> bytes = toy();
  std::memset(bytes.data() + FileHeader::kBytes, 0, room);
  std::memcpy(bytes.data() + FileHeader::kBytes, data, size);
  FileHeader header = FileHeader::decode(bytes.data());
  header.programSize = size;
  FileHeader::Bytes encoded = header.encode();
  std::memcpy(bytes.data(), encoded.data(), encoded.size());
  test::repairHeader(bytes);
  if (pwrite(file, bytes.data(), bytes.size(), 0) != ssize_t(bytes.size()))
    __builtin_trap();

  test::WorkCounter work;
  openAll(path, device);
  work.expectAtMost(mostReads(size));
  return 0;
}
