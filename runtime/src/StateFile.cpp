#include "runtime/src/StateFile.h"

#include "runtime/src/Checksum.h"
#include "runtime/src/Limits.h"
#include "runtime/src/ModelChecks.h"
#include "runtime/src/StateElements.h"
#include "runtime/src/StateHeader.h"
#include "runtime/src/StateRows.h"
#include "runtime/src/WholeFile.h"

#include <algorithm>
#include <cstring>

using namespace effc;
using namespace effc::rt;

uint64_t rt::modelIdOf(const artifact::Program &program) {
  ChecksumStream stream;
  for (const artifact::Weight *weight : *program.weights()) {
    std::string_view name = weight->name()->string_view();
    uint64_t sum = flatbuffers::EndianScalar(weight->checksum());
    stream.add(name.data(), name.size() + 1); // with its terminating zero
    stream.add(&sum, sizeof sum);
  }
  return stream.finish();
}

static uint64_t aligned(uint64_t offset) {
  constexpr uint64_t kAlignment = StateHeader::kAlignment;
  return (offset + kAlignment - 1) / kAlignment * kAlignment;
}

/// Bytes of one state's descriptor.
static uint64_t descriptorBytes(const artifact::State &state) {
  return 2 + state.name()->size() + 4 + 8 * state.shape()->size();
}

/// Those that may share a scale.
static uint64_t numbersOf(const artifact::State &state) {
  return state.shape()->size() > 0
             ? state.shape()->Get(state.shape()->size() - 1)
             : 1;
}

static uint64_t elementsOf(const artifact::State &state) {
  uint64_t elements = 1;
  for (uint64_t dimension : *state.shape())
    elements *= dimension;
  return elements;
}

/// Bytes before the rows of a growing state: its first token and their count.
static constexpr uint64_t kRangeBytes = 16;

namespace {
/// Numbers and text one after another, little-endian.
class Writer {
public:
  explicit Writer(std::vector<uint8_t> &out) : out(out) {}
  void number(size_t count, uint64_t value) {
    for (size_t i = 0; i < count; ++i)
      out.push_back(static_cast<uint8_t>(value >> (8 * i)));
  }
  void text(std::string_view value) {
    out.insert(out.end(), value.begin(), value.end());
  }

private:
  std::vector<uint8_t> &out;
};

/// The same read back; past the end everything is 0 and `bad` is set.
class Reader {
public:
  explicit Reader(std::span<const uint8_t> bytes) : rest(bytes) {}
  uint64_t number(size_t count) {
    std::span<const uint8_t> bytes = take(count);
    uint64_t value = 0;
    for (size_t i = 0; i < bytes.size(); ++i)
      value |= static_cast<uint64_t>(bytes[i]) << (8 * i);
    return value;
  }
  std::string_view text(size_t count) {
    std::span<const uint8_t> bytes = take(count);
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
  }
  bool bad = false;
  std::span<const uint8_t> rest;

private:
  std::span<const uint8_t> take(size_t count) {
    if (count > rest.size()) {
      bad = true;
      rest = {};
      return {};
    }
    std::span<const uint8_t> bytes = rest.first(count);
    rest = rest.subspan(count);
    return bytes;
  }
};

/// A descriptor as it stands in a file.
struct Descriptor {
  std::string_view name;
  artifact::StateKind kind;
  artifact::Growth growth;
  artifact::ElementType type;
  std::vector<uint64_t> shape;
};
} // namespace

static void writeDescriptor(Writer &writer, const artifact::State &state) {
  writer.number(2, state.name()->size());
  writer.text(state.name()->string_view());
  writer.number(1, static_cast<uint64_t>(state.kind()));
  writer.number(1, static_cast<uint64_t>(state.growth()));
  writer.number(1, static_cast<uint64_t>(state.type()));
  writer.number(1, state.shape()->size());
  for (uint64_t dimension : *state.shape())
    writer.number(8, dimension);
}

static Descriptor readDescriptor(Reader &reader) {
  Descriptor descriptor;
  descriptor.name = reader.text(reader.number(2));
  descriptor.kind = static_cast<artifact::StateKind>(reader.number(1));
  descriptor.growth = static_cast<artifact::Growth>(reader.number(1));
  descriptor.type = static_cast<artifact::ElementType>(reader.number(1));
  uint64_t rank = reader.number(1);
  for (uint64_t i = 0; i < rank && !reader.bad; ++i)
    descriptor.shape.push_back(reader.number(8));
  return descriptor;
}

/// Appends the data of a state of a fixed size.
static void writeWhole(std::vector<uint8_t> &bytes,
                       const artifact::State &state, uint64_t position,
                       std::span<const uint8_t> slot) {
  size_t at = bytes.size();
  bytes.resize(at + state.size());
  if (position == 0)
    fillElements(state.type(), state.neutral(), &bytes[at], elementsOf(state),
                 numbersOf(state));
  else
    std::memcpy(&bytes[at], slot.data() + state.slot_offset(), state.size());
}

/// Appends the data of a growing state: its tokens, oldest first.
static void writeTokens(std::vector<uint8_t> &bytes,
                        const artifact::State &state, uint64_t position,
                        std::span<const uint8_t> slot) {
  TokenRange held = tokensHeld(state, position);
  Writer writer(bytes);
  writer.number(8, held.first);
  writer.number(8, held.count);
  uint64_t rowBytes = state.size() / state.shape()->Get(0);
  for (uint64_t i = 0; i < held.count; ++i) {
    std::span<const uint8_t> row = slot.subspan(
        state.slot_offset() + rowOf(state, held.first + i) * rowBytes,
        rowBytes);
    bytes.insert(bytes.end(), row.begin(), row.end());
  }
}

uint64_t rt::encodedBytes(const artifact::Program &program, uint64_t position) {
  uint64_t size = StateHeader::kBytes;
  for (const artifact::State *state : *program.states())
    size += descriptorBytes(*state);
  for (const artifact::State *state : *program.states()) {
    size = aligned(size) + state->size();
    if (!growsWithSequence(*state))
      continue;
    uint64_t rows = state->shape()->Get(0);
    uint64_t empty = rows - tokensHeld(*state, position).count;
    size += kRangeBytes - empty * (state->size() / rows);
  }
  return size + CodeNames::kBytes;
}

std::vector<uint8_t> rt::encodeState(const artifact::Program &program,
                                     uint64_t position,
                                     std::span<const uint8_t> slot,
                                     const CodeNames &codes,
                                     const StateOrigin *origin) {
  std::vector<uint8_t> bytes;
  bytes.reserve(encodedBytes(program, position) +
                (origin ? StateOrigin::bytesAt(position) : 0));
  bytes.resize(StateHeader::kBytes);
  Writer writer(bytes);
  for (const artifact::State *state : *program.states())
    writeDescriptor(writer, *state);
  StateHeader header;
  header.descriptorBytes =
      static_cast<uint32_t>(bytes.size() - StateHeader::kBytes);
  for (const artifact::State *state : *program.states()) {
    bytes.resize(aligned(bytes.size()));
    (growsWithSequence(*state) ? writeTokens : writeWhole)(bytes, *state,
                                                           position, slot);
  }
  bytes.insert(bytes.end(), codes.raw().begin(), codes.raw().end());
  if (origin) {
    header.withOrigin = 1;
    origin->append(bytes);
  }
  header.fileSize = bytes.size();
  header.modelId = modelIdOf(program);
  header.layoutId = program.layout_id();
  header.position = static_cast<int64_t>(position);
  header.states = program.states()->size();
  header.bodyChecksum = checksum(bytes.data() + StateHeader::kBytes,
                                 bytes.size() - StateHeader::kBytes);
  StateHeader::Bytes encoded = header.encode();
  std::copy(encoded.begin(), encoded.end(), bytes.begin());
  return bytes;
}

/// What a reader can know from the first 64 bytes. `size` is that of the file.
static Check checkHeader(const artifact::Program &program,
                         const StateHeader &header, const uint8_t *bytes,
                         uint64_t size) {
  if (header.magic != StateHeader::kMagic)
    return badData("not a state file: it does not start with \"EFFS\"");
  if (!header.isReadable())
    return fail(EFFC_UNSUPPORTED, "the state is written in format ",
                header.major, ".", unsigned(header.minor),
                ", but this library reads ", StateHeader::kMajor, ".",
                unsigned(StateHeader::kMinor),
                ": give the sequence its tokens again, or use the library that "
                "saved it");
  if (header.headerChecksum != StateHeader::checksumOf(bytes))
    return badData("the state's header is damaged: its checksum differs");
  if (header.withOrigin > 1)
    return badData("byte 7 of the state's header is ",
                   unsigned(header.withOrigin), ", of which 0 and 1 are known");
  if (header.fileSize != size)
    return badData("the state's header states a size of ", header.fileSize,
                   " bytes, but there are ", size);
  if (header.modelId != modelIdOf(program))
    return badData("the state is of another model: the weights it belongs to "
                   "are not those of this one");
  uint64_t limit = program.max_context() ? program.max_context() : kMaxContext;
  if (header.position < 0 || static_cast<uint64_t>(header.position) > limit)
    return badData("the state is at position ", header.position, ", but 0 to ",
                   limit, " are possible");
  return {};
}

/// No sound file for `program` is larger: an element takes at most 8 bytes.
static uint64_t mostBytes(const artifact::Program &program,
                          const StateHeader &header) {
  uint64_t most = StateHeader::kBytes + CodeNames::kBytes;
  if (header.withOrigin)
    most += StateOrigin::bytesAt(static_cast<uint64_t>(header.position));
  for (const artifact::State *state : *program.states())
    most += descriptorBytes(*state) + StateHeader::kAlignment + kRangeBytes +
            8 * elementsOf(*state);
  return most;
}

static std::string shapeText(const auto &shape) {
  std::string text;
  for (uint64_t dimension : shape)
    text += (text.empty() ? "" : "x") + std::to_string(dimension);
  return text;
}

static Check checkDescriptor(const Descriptor &found,
                             const artifact::State &expected) {
  auto name = expected.name()->string_view();
  if (found.kind != expected.kind())
    return badData("state '", name, "' is of kind ", unsigned(found.kind),
                   ", but the model has kind ", unsigned(expected.kind()));
  if (found.growth != expected.growth())
    return badData("state '", name, "' is of growth ", unsigned(found.growth),
                   ", but the model has growth ", unsigned(expected.growth()));
  // How many rows a growing state has room for is each target's own.
  size_t room = growsWithSequence(expected) ? 1 : 0;
  if (found.shape.size() != expected.shape()->size() ||
      !std::equal(found.shape.begin() + room, found.shape.end(),
                  expected.shape()->begin() + room))
    return badData("state '", name, "' has shape ", shapeText(found.shape),
                   ", but the model has ", shapeText(*expected.shape()));
  if (!isStateType(found.type))
    return badData("state '", name, "' is of unknown type ",
                   unsigned(found.type));
  if (!isConvertible(found.type, expected.type()))
    return badData("state '", name, "' is of type ",
                   artifact::EnumNameElementType(found.type),
                   ", which cannot become the model's ",
                   artifact::EnumNameElementType(expected.type()));
  return {};
}

/// The descriptors in the file, each of them fitting the model's state in the
/// same place.
static Result<std::vector<Descriptor>>
readDescriptors(const artifact::Program &program, const StateHeader &header,
                std::span<const uint8_t> bytes) {
  if (header.descriptorBytes > bytes.size())
    return badData("the descriptors have ", header.descriptorBytes,
                   " bytes, but only ", bytes.size(), " follow the header");
  Reader reader(bytes.first(header.descriptorBytes));
  std::vector<Descriptor> found;
  const auto &expected = *program.states();
  for (uint32_t i = 0; i < header.states; ++i) {
    Descriptor descriptor = readDescriptor(reader);
    if (reader.bad)
      return badData("descriptor ", i, " goes past the end of the descriptors");
    if (i >= expected.size() ||
        descriptor.name != expected.Get(i)->name()->string_view())
      return badData("the state has '", descriptor.name, "' in place ", i,
                     ", where the model has ",
                     i < expected.size()
                         ? "'" + expected.Get(i)->name()->str() + "'"
                         : std::string("none"));
    if (Check error = checkDescriptor(descriptor, *expected.Get(i)))
      return *error;
    found.push_back(std::move(descriptor));
  }
  if (!reader.rest.empty())
    return badData(reader.rest.size(), " bytes follow the last descriptor");
  if (header.states < expected.size())
    return badData("the state lacks '",
                   expected.Get(header.states)->name()->string_view(),
                   "', which the model has");
  return found;
}

namespace {
/// Fills a slot with the states of a file, one after another.
class StateReader {
public:
  StateReader(std::span<const uint8_t> bytes, uint64_t start,
              SequenceState &into)
      : bytes(bytes), at(start), sequence(into) {}

  Check read(const artifact::State &into, artifact::ElementType type);
  Check readCodes();
  Result<StateOrigin> readOrigin();
  uint64_t bytesLeft() const { return bytes.size() - at; }

private:
  Check readWhole(const artifact::State &into, artifact::ElementType type);
  Check readTokens(const artifact::State &into, artifact::ElementType type);
  /// Moves past `size` bytes of the state, which must be there.
  Check pass(const artifact::State &into, uint64_t size);
  /// `count` elements, converted. `element` is the first one's number.
  Check convert(const artifact::State &into, artifact::ElementType type,
                uint64_t from, uint64_t to, uint64_t element, uint64_t count);

  std::span<const uint8_t> bytes;
  uint64_t at;
  SequenceState &sequence;
};
} // namespace

Check StateReader::read(const artifact::State &into,
                        artifact::ElementType type) {
  at = aligned(at);
  return growsWithSequence(into) ? readTokens(into, type)
                                 : readWhole(into, type);
}

Check StateReader::pass(const artifact::State &into, uint64_t size) {
  if (!fits(at, size, bytes.size()))
    return badData("the data of state '", into.name()->string_view(),
                   "' lies at byte ", at, " with ", size,
                   " bytes, but there are ", bytes.size());
  at += size;
  return {};
}

Check StateReader::convert(const artifact::State &into,
                           artifact::ElementType type, uint64_t from,
                           uint64_t to, uint64_t element, uint64_t count) {
  uint64_t row = numbersOf(into);
  if (size_t nan = findNan(type, &bytes[from], count, row); nan < count)
    return badData("element ", element + nan, " of state '",
                   into.name()->string_view(), "' is not a number");
  convertElements(type, &bytes[from], into.type(), sequence.slot.data() + to,
                  count, row);
  return {};
}

Check StateReader::readWhole(const artifact::State &into,
                             artifact::ElementType type) {
  uint64_t from = at, count = elementsOf(into);
  if (Check error = pass(into, stateBytes(type, count, numbersOf(into))))
    return error;
  return convert(into, type, from, into.slot_offset(), 0, count);
}

Check StateReader::readTokens(const artifact::State &into,
                              artifact::ElementType type) {
  uint64_t from = at;
  if (Check error = pass(into, kRangeBytes))
    return error;
  Reader numbers(bytes.subspan(from, kRangeBytes));
  TokenRange found{numbers.number(8), numbers.number(8)};
  TokenRange needed = tokensHeld(into, sequence.position);
  auto name = into.name()->string_view();
  if (found.count > sequence.position ||
      found.first != sequence.position - found.count)
    return badData("state '", name, "' holds ", found.count,
                   " tokens from token ", found.first,
                   " on, which do not end at position ", sequence.position);
  if (found.count < needed.count)
    return badData("state '", name, "' holds the last ", found.count,
                   " tokens, but the model needs ", needed.count);
  uint64_t rowElements = elementsOf(into) / into.shape()->Get(0);
  uint64_t rowBytes = stateBytes(type, rowElements, numbersOf(into));
  uint64_t rows = at;
  if (found.count > bytesLeft() / rowBytes)
    return badData("the data of state '", name, "' lies at byte ", at, " with ",
                   found.count, " rows of ", rowBytes, " bytes, but there are ",
                   bytes.size());
  at += found.count * rowBytes;
  for (uint64_t i = found.count - needed.count; i < found.count; ++i) {
    uint64_t row = rowOf(into, found.first + i);
    uint64_t to = into.slot_offset() +
                  stateBytes(into.type(), row * rowElements, numbersOf(into));
    if (Check error = convert(into, type, rows + i * rowBytes, to,
                              i * rowElements, rowElements))
      return error;
  }
  return {};
}

Check StateReader::readCodes() {
  if (bytesLeft() < CodeNames::kBytes ||
      !sequence.codes.take(bytes.subspan(at).first<CodeNames::kBytes>()))
    return badData(
        "the state does not say by which code it was computed, which "
        "its last ",
        CodeNames::kBytes, " bytes should");
  at += CodeNames::kBytes;
  return {};
}

Result<StateOrigin> StateReader::readOrigin() {
  uint64_t size =
      std::min(StateOrigin::bytesAt(sequence.position), bytesLeft());
  at += size;
  return StateOrigin::read(bytes.subspan(at - size, size), sequence.position);
}

Result<SequenceState> rt::decodeState(const artifact::Program &program,
                                      std::span<const uint8_t> bytes) {
  if (bytes.size() < StateHeader::kBytes)
    return badData("not a state file: it has ", bytes.size(),
                   " bytes, but a header has ", StateHeader::kBytes);
  StateHeader header = StateHeader::decode(bytes.data());
  if (Check error = checkHeader(program, header, bytes.data(), bytes.size()))
    return *error;
  std::span<const uint8_t> body = bytes.subspan(StateHeader::kBytes);
  if (header.bodyChecksum != checksum(body.data(), body.size()))
    return badData("the state is damaged: its checksum differs");
  Result<std::vector<Descriptor>> found =
      readDescriptors(program, header, body);
  if (!found)
    return found.error();
  // The descriptors name what differs, if they can; this is the last word.
  if (header.layoutId != program.layout_id())
    return badData("the state's layout is another one than the model's");

  SequenceState state;
  state.position = static_cast<uint64_t>(header.position);
  Result<Mapping> slot =
      Mapping::anonymous(program.slot_bytes(), "a sequence's states");
  if (!slot)
    return slot.error();
  state.slot = std::move(*slot);
  StateReader reader(bytes, StateHeader::kBytes + header.descriptorBytes,
                     state);
  for (uint32_t i = 0; i < header.states; ++i)
    if (Check error = reader.read(*program.states()->Get(i), (*found)[i].type))
      return *error;
  if (Check error = reader.readCodes())
    return *error;
  if (header.withOrigin) {
    Result<StateOrigin> origin = reader.readOrigin();
    if (!origin)
      return origin.error();
    state.origin = std::move(*origin);
  }
  if (reader.bytesLeft() > 0)
    return badData(reader.bytesLeft(), " bytes follow the last state");
  return state;
}

Result<std::vector<uint8_t>> rt::readStateFile(const artifact::Program &program,
                                               const std::string &path) {
  Result<RegularFile> file = RegularFile::open(path);
  if (!file)
    return file.error();
  auto refuse = [&](Error error) {
    return Error{error.code, "'" + path + "': " + error.message};
  };
  std::vector<uint8_t> bytes(
      std::min<uint64_t>(file->size(), StateHeader::kBytes));
  if (Check error = file->read(bytes))
    return *error;
  if (bytes.size() < StateHeader::kBytes)
    return bytes; // decodeState() says what is wrong
  StateHeader header = StateHeader::decode(bytes.data());
  if (Check error = checkHeader(program, header, bytes.data(), file->size()))
    return refuse(*error);
  if (uint64_t most = mostBytes(program, header); file->size() > most)
    return refuse(badData("the state has ", file->size(),
                          " bytes, but a sequence of the model takes at most ",
                          most));
  bytes.resize(file->size());
  if (Check error =
          file->read(std::span<uint8_t>(bytes).subspan(StateHeader::kBytes)))
    return *error;
  return bytes;
}

Result<StateOrigin> rt::readStateOrigin(const artifact::Program &program,
                                        const std::string &path) {
  Result<RegularFile> file = RegularFile::open(path);
  if (!file)
    return file.error();
  StateHeader::Bytes start = {};
  if (file->size() < start.size())
    return badData("'", path, "' is no state file");
  if (Check error = file->read(start))
    return *error;
  StateHeader header = StateHeader::decode(start.data());
  if (Check error = checkHeader(program, header, start.data(), file->size()))
    return *error;
  uint64_t position = static_cast<uint64_t>(header.position);
  if (!header.withOrigin ||
      file->size() - start.size() < StateOrigin::bytesAt(position))
    return badData("'", path, "' does not say which tokens it is of");
  std::vector<uint8_t> bytes(StateOrigin::bytesAt(position));
  if (Check error = file->seek(file->size() - bytes.size()))
    return *error;
  if (Check error = file->read(bytes))
    return *error;
  return StateOrigin::read(bytes, position);
}
