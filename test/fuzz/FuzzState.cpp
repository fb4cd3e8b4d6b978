// Any bytes as a state file of a small model, as they are and with checksums
// made right, so that the checks behind them are reached: refused with one
// line, or a slot of the model's size at a possible position.
#include "runtime/src/Checksum.h"
#include "runtime/src/StateFile.h"
#include "runtime/src/StateHeader.h"

#include <cstring>

using namespace effc;
using namespace effc::rt;

constexpr uint64_t kContext = 9;

// Three states, each in another type: 24, 20 and 8 bytes at 0, 64 and 128; then
// a ring of 4 rows and a table of 12, of 32 and 48 bytes.
static const artifact::Program &program() {
  static const std::vector<uint8_t> bytes = [] {
    artifact::ProgramT program;
    program.vocabulary_size = 7;
    program.max_context = kContext;
    program.slot_bytes = 320;
    program.layout_id = 5;
    auto add = [&](const char *name, artifact::ElementType type,
                   std::vector<uint64_t> shape, uint64_t size,
                   artifact::Growth growth = artifact::Growth::Fixed) {
      auto state = std::make_unique<artifact::StateT>();
      state->name = name;
      state->type = type;
      state->shape = std::move(shape);
      state->slot_offset = 64 * program.states.size();
      state->size = size;
      state->growth = growth;
      program.states.push_back(std::move(state));
    };
    add("a", artifact::ElementType::F32, {2, 3}, 24);
    add("b", artifact::ElementType::BF16, {10}, 20);
    add("c", artifact::ElementType::I64, {1}, 8);
    add("d", artifact::ElementType::F32, {4, 2}, 32, artifact::Growth::Window);
    add("e", artifact::ElementType::BF16, {12, 1, 2}, 48,
        artifact::Growth::MaxContext);
    flatbuffers::FlatBufferBuilder builder;
    artifact::FinishProgramBuffer(builder,
                                  artifact::Program::Pack(builder, &program));
    return std::vector<uint8_t>(builder.GetBufferPointer(),
                                builder.GetBufferPointer() + builder.GetSize());
  }();
  return *artifact::GetProgram(bytes.data());
}

static void tryBytes(std::span<const uint8_t> bytes) {
  Result<SequenceState> state = decodeState(program(), bytes);
  if (!state) {
    if (state.error().message.find('\n') != std::string::npos)
      __builtin_trap();
    return;
  }
  if (state->slot.size() != program().slot_bytes() ||
      state->position > kContext)
    __builtin_trap();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tryBytes({data, size});
  if (size < StateHeader::kBytes)
    return 0;
  std::vector<uint8_t> bytes(data, data + size);
  StateHeader header = StateHeader::decode(bytes.data());
  header.magic = StateHeader::kMagic;
  header.major = StateHeader::kMajor;
  header.minor = StateHeader::kMinor;
  header.withOrigin &= 1; // with tokens, or without
  header.fileSize = size;
  header.modelId = modelIdOf(program());
  header.layoutId = 5;
  header.bodyChecksum =
      checksum(data + StateHeader::kBytes, size - StateHeader::kBytes);
  StateHeader::Bytes encoded = header.encode();
  std::memcpy(bytes.data(), encoded.data(), encoded.size());
  tryBytes(bytes);
  // And a sound body behind the given position: what was written is read back.
  std::vector<uint8_t> slot(program().slot_bytes());
  uint64_t position = static_cast<uint64_t>(header.position) % (kContext + 1);
  if (!decodeState(program(), encodeState(program(), position, slot)))
    __builtin_trap();
  return 0;
}
