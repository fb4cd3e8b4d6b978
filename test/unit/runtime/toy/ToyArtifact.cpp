#include "test/unit/runtime/toy/ToyArtifact.h"

#include "runtime/abi/FileHeader.h"
#include "runtime/src/Checksum.h"
#include "test/unit/runtime/toy/ElfImage.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace effc;
using namespace effc::test;

/// A small number that depends on both indices and has few bits, so that every
/// sum of the toy model is exact in any order.
static float entryOf(uint32_t row, uint32_t column, uint32_t salt) {
  return static_cast<float>((row * 7 + column * 11 + salt) % 29) / 8 - 1.75f;
}

static float tableAt(uint32_t token, uint32_t c) {
  return entryOf(token, c, 3);
}
static float headAt(uint32_t token, uint32_t c) {
  return entryOf(token * 5, c, 8);
}

ToyReference::ToyReference() = default;

std::vector<float> ToyReference::step(int32_t token) {
  for (uint32_t c = 0; c < kToyChannels; ++c)
    sums[c] = 0.5f * sums[c] + tableAt(static_cast<uint32_t>(token), c);
  std::vector<float> logits(kToyVocabulary);
  for (uint32_t v = 0; v < kToyVocabulary; ++v)
    for (uint32_t c = 0; c < kToyChannels; ++c)
      logits[v] += headAt(v, c) * sums[c];
  return logits;
}

std::vector<float> ToyReference::feed(const std::vector<int32_t> &tokens) {
  std::vector<float> all;
  for (int32_t token : tokens) {
    std::vector<float> row = step(token);
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

/// Rows of 64 bytes: f32 or bf16 by the element's size.
static std::vector<uint8_t> makeWeight(float (*value)(uint32_t, uint32_t),
                                       bool bf16) {
  std::vector<uint8_t> bytes(kToyVocabulary * 64);
  for (uint32_t row = 0; row < kToyVocabulary; ++row)
    for (uint32_t c = 0; c < kToyChannels; ++c) {
      float number = value(row, c);
      uint32_t bits;
      std::memcpy(&bits, &number, 4);
      uint16_t upper = static_cast<uint16_t>(bits >> 16); // exact: few bits
      if (bf16)
        std::memcpy(&bytes[row * 64 + c * 2], &upper, 2);
      else
        std::memcpy(&bytes[row * 64 + c * 4], &number, 4);
    }
  return bytes;
}

std::unique_ptr<artifact::PieceStepT>
effc::test::makeToySplit(const char *pattern) {
  auto step = std::make_unique<artifact::PieceStepT>();
  step->kind = artifact::PieceKind::Split;
  step->split = std::make_unique<artifact::SplitStepT>();
  step->split->pattern = pattern;
  step->split->behavior = artifact::SplitBehavior::Isolated;
  return step;
}

artifact::TokenizerT effc::test::makeToyTokenizer() {
  artifact::TokenizerT tokenizer;
  auto addToken = [&](const std::string &text) {
    auto token = std::make_unique<artifact::BytesT>();
    token->data.assign(text.begin(), text.end());
    tokenizer.tokens.push_back(std::move(token));
  };
  for (int byte = 0; byte < 256; ++byte) {
    addToken(std::string(1, static_cast<char>(byte)));
    tokenizer.byte_symbols.push_back(byte);
  }
  // 256: "he", 257: "ll", 258: "hell", 259: "hello", 260: " w", 261: "or",
  // 262: " wor", 263: "\xC3\xA9" (e with acute accent)
  struct {
    int32_t left, right;
    const char *text;
  } merges[] = {{'h', 'e', "he"},   {'l', 'l', "ll"},
                {256, 257, "hell"}, {258, 'o', "hello"},
                {' ', 'w', " w"},   {'o', 'r', "or"},
                {260, 261, " wor"}, {0xC3, 0xA9, "\xC3\xA9"}};
  for (const auto &merge : merges) {
    tokenizer.merges.emplace_back(
        merge.left, merge.right, static_cast<int32_t>(tokenizer.tokens.size()));
    addToken(merge.text);
  }
  while (tokenizer.tokens.size() < kToyVocabulary)
    addToken("");
  auto addAdded = [&](int32_t id, const char *content, bool special,
                      bool single) {
    auto added = std::make_unique<artifact::AddedTokenT>();
    added->id = id;
    added->content = content;
    added->special = special;
    added->single_word = single;
    tokenizer.added_tokens.push_back(std::move(added));
  };
  addAdded(kToyEnd, "<|end|>", true, false);
  addAdded(kToyPlain, "word", false, true);
  tokenizer.pieces.push_back(
      makeToySplit(R"( ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"));
  tokenizer.decoders.push_back(std::make_unique<artifact::DecoderStepT>());
  tokenizer.decoders.back()->kind = artifact::DecoderKind::Bytes;
  return tokenizer;
}

namespace {
/// The file as it grows: segments are appended at their alignment.
struct Builder {
  std::vector<uint8_t> bytes; // from `base` on
  uint64_t base;
  artifact::ProgramT program;

  uint32_t addSegment(artifact::SegmentKind kind,
                      const std::vector<uint8_t> &contents,
                      const char *isa = "") {
    uint64_t end = base + bytes.size();
    uint64_t offset = (end + 4095) / 4096 * 4096;
    bytes.resize(offset - base);
    bytes.insert(bytes.end(), contents.begin(), contents.end());
    auto segment = std::make_unique<artifact::SegmentT>();
    segment->kind = kind;
    segment->offset = offset;
    segment->size = contents.size();
    segment->checksum = rt::checksum(contents.data(), contents.size());
    segment->isa = isa;
    program.segments.push_back(std::move(segment));
    return static_cast<uint32_t>(program.segments.size() - 1);
  }
};
} // namespace

static void addWeights(Builder &builder) {
  std::vector<uint8_t> table = makeWeight(tableAt, false);
  std::vector<uint8_t> head = makeWeight(headAt, true);
  auto describe = [&](const char *name, artifact::ElementType type,
                      uint64_t offset, const std::vector<uint8_t> &bytes) {
    auto weight = std::make_unique<artifact::WeightT>();
    weight->name = name;
    weight->source = std::string("toy.") + name;
    weight->type = type;
    weight->shape = {kToyVocabulary, kToyChannels};
    weight->row_stride_bytes = 64;
    weight->offset = offset;
    weight->size = bytes.size();
    weight->checksum = rt::checksum(bytes.data(), bytes.size());
    builder.program.weights.push_back(std::move(weight));
  };
  describe("embeddings", artifact::ElementType::F32, 0, table);
  describe("lm_head", artifact::ElementType::BF16, table.size(), head);
  std::vector<uint8_t> all = table;
  all.insert(all.end(), head.begin(), head.end());
  builder.addSegment(artifact::SegmentKind::Weights, all);
  uint64_t checksums[] = {builder.program.weights[0]->checksum,
                          builder.program.weights[1]->checksum};
  builder.program.segments.back()->checksum =
      rt::checksum(checksums, sizeof checksums);
}

static void addState(artifact::ProgramT &program, const char *name,
                     artifact::StateKind kind, artifact::ElementType type,
                     std::vector<uint64_t> shape, uint64_t offset,
                     uint64_t size) {
  auto state = std::make_unique<artifact::StateT>();
  state->name = name;
  state->kind = kind;
  state->type = type;
  state->shape = std::move(shape);
  state->slot_offset = offset;
  state->size = size;
  program.states.push_back(std::move(state));
}

static void addKernels(Builder &builder, const ToyOptions &options) {
  ElfImage image = readElfImage(EFFC_TOY_KERNELS);
  uint32_t code =
      builder.addSegment(artifact::SegmentKind::HostCode, image.bytes, kToyIsa);
  std::vector<const char *> names = {"toy_embed", "toy_scan", "toy_head"};
  if (options.withChoices)
    names.push_back("toy_draw");
  if (options.withKeys)
    names[1] = "toy_scan_keys";
  if (options.keysAlone)
    names[1] = "toy_attend";
  for (const char *name : names) {
    auto kernel = std::make_unique<artifact::KernelT>();
    kernel->name = name;
    kernel->operands = name == std::string("toy_draw")        ? 5
                       : name == std::string("toy_scan_keys") ? 7
                       : name == std::string("toy_attend")    ? 3
                                                              : 4;
    kernel->stack_bytes = 512;
    auto where = std::make_unique<artifact::KernelCodeT>();
    where->segment = code;
    where->offset = image.functions.at(name);
    kernel->code.push_back(std::move(where));
    builder.program.kernels.push_back(std::move(kernel));
  }
}

static void addEntry(artifact::ProgramT &program, artifact::EntryKind kind,
                     uint32_t rows, uint32_t chunk, const ToyOptions &options) {
  using artifact::CallResult;
  using artifact::Count;
  using artifact::Operand;
  using artifact::OperandKind;
  auto entry = std::make_unique<artifact::EntryT>();
  bool prefill = kind == artifact::EntryKind::Prefill;
  entry->name = (prefill ? "prefill_" : "decode_") + std::to_string(rows);
  entry->kind = kind;
  entry->rows = rows;
  entry->chunk = chunk;
  entry->arena_bytes = 64 + rows * 16;
  // Not at the arena's start, so that a forgotten offset shows.
  Operand x(OperandKind::Arena, 0, 64);
  auto launch = [&](uint32_t kernel, artifact::Items items,
                    std::vector<Operand> operands, const char *note) {
    auto record = std::make_unique<artifact::LaunchT>();
    record->kernel = kernel;
    record->items = std::make_unique<artifact::Items>(items);
    record->operands = std::move(operands);
    record->note = note;
    entry->launches.push_back(std::move(record));
  };
  launch(0, {Count::Rows, 4, 1},
         {{OperandKind::Tokens, 0, 0},
          {OperandKind::RowPositions, 0, 0},
          {OperandKind::Weight, 0, 0},
          x},
         "embed");
  std::vector<Operand> scanned = {{OperandKind::Segments, 0, 0},
                                  {OperandKind::State, 0, 0},
                                  {OperandKind::State, 1, 0},
                                  x};
  if (options.withKeys) {
    scanned.emplace(scanned.begin() + 1, OperandKind::Tokens, 0, 0);
    for (uint32_t state : {2, 3})
      scanned.emplace(scanned.end() - 1, OperandKind::State, state, 0);
  }
  if (options.keysAlone)
    scanned = {{OperandKind::Segments, 0, 0}, {OperandKind::State, 0, 0}, x};
  launch(1, {Count::Segments, 1, 1}, scanned, "scan");
  launch(2, {Count::Outputs, 2, 3},
         {{OperandKind::OutputRows, 0, 0},
          x,
          {OperandKind::Weight, 1, 0},
          {OperandKind::Logits, 0, 0}},
         "head");
  if (!prefill && options.withChoices) {
    entry->launches.back()->only_for = CallResult::Logits;
    std::vector<Operand> operands = {{OperandKind::OutputRows, 0, 0},
                                     x,
                                     {OperandKind::Weight, 1, 0},
                                     {OperandKind::Choices, 0, 0},
                                     {OperandKind::Draws, 0, 0}};
    launch(3, {Count::Outputs, 1, 1}, operands, "draw");
    entry->launches.back()->only_for = CallResult::Choices;
  }
  program.entries.push_back(std::move(entry));
}

/// Keys and values of a context, and of a window: behind the toy's other states,
/// which have one element more.
static void addKeys(artifact::ProgramT &program) {
  program.slot_bytes = kToyKeysSlotBytes;
  program.max_context = kToyContext;
  program.states[0]->shape = {kToyChannels + 1};
  program.states[0]->size += sizeof(float);
  uint64_t at = kToySlotBytes;
  auto add = [&](const char *name, artifact::StateKind kind,
                 artifact::Growth growth, uint64_t rows) {
    addState(program, name, kind, artifact::ElementType::F32,
             {rows, kToyRowBytes / sizeof(float)}, at, rows * kToyRowBytes);
    program.states.back()->growth = growth;
    at += rows * kToyRowBytes;
  };
  add("keys", artifact::StateKind::Growing, artifact::Growth::MaxContext,
      kToyContext);
  add("ring", artifact::StateKind::Window, artifact::Growth::Window,
      kToyWindow);
}

/// Keys of a context in place of the toy's other states.
static void replaceByKeys(artifact::ProgramT &program) {
  program.slot_bytes = kToyContext * kToyRowBytes;
  program.max_context = kToyContext;
  program.states.clear();
  addState(program, "keys", artifact::StateKind::Growing,
           artifact::ElementType::F32,
           {kToyContext, kToyRowBytes / sizeof(float)}, 0, program.slot_bytes);
  program.states.back()->growth = artifact::Growth::MaxContext;
}

/// What the toy's kernels reach, from ToyKernels.c: 271 rows of 64 bytes of each
/// weight, a row of 16 bytes of x, a state in each slot.
static artifact::OperandExtent extentOf(const artifact::ProgramT &program,
                                        const artifact::Operand &operand) {
  using artifact::OperandKind;
  auto extent = [&](uint64_t stride, uint64_t bytes, uint32_t alignment) {
    return artifact::OperandExtent(stride, bytes, alignment,
                                   1u << unsigned(operand.kind()));
  };
  switch (operand.kind()) {
  case OperandKind::Arena:
    return extent(16, 16, 16);
  case OperandKind::Weight:
    return extent(0, (kToyVocabulary - 1) * 64 + 12, 64);
  case OperandKind::State: {
    const artifact::StateT &state = *program.states[operand.index()];
    return extent(program.slot_bytes, state.size,
                  state.type == artifact::ElementType::I64 ? 8 : 4);
  }
  case OperandKind::Tokens:
  case OperandKind::RowSlots:
  case OperandKind::OutputRows:
    return extent(4, 4, 4);
  case OperandKind::RowPositions:
  case OperandKind::Choices:
    return extent(8, 8, 4);
  case OperandKind::Segments:
    return extent(24, 24, 8);
  case OperandKind::Logits:
    return extent(kToyVocabulary * 4, kToyVocabulary * 4, 4);
  case OperandKind::Draws:
    return extent(16, 16, 4);
  }
  return extent(0, 0, 1);
}

using Kernels = std::vector<std::unique_ptr<artifact::KernelT>>;
using Entries = std::vector<std::unique_ptr<artifact::EntryT>>;

static void stateExtents(const artifact::ProgramT &program, Kernels &kernels,
                         const Entries &entries) {
  for (auto &kernel : kernels)
    kernel->extents.clear();
  for (const auto &entry : entries)
    for (const auto &launch : entry->launches) {
      artifact::KernelT &kernel = *kernels[launch->kernel];
      kernel.items = std::make_unique<artifact::Items>(*launch->items);
      kernel.rows = std::max(kernel.rows, entry->rows);
      kernel.vocabulary = program.vocabulary_size;
      kernel.max_context = program.max_context;
      kernel.extents.clear();
      for (const artifact::Operand &operand : launch->operands)
        kernel.extents.push_back(extentOf(program, operand));
    }
}

void effc::test::stateExtents(artifact::ProgramT &program) {
  ::stateExtents(program, program.kernels, program.entries);
  for (auto &target : program.targets)
    ::stateExtents(program, target->kernels, target->entries);
}

/// Fills in the checksum of where each kernel starts, unless a test has set it.
static void checkStarts(const Builder &builder, Kernels &all) {
  for (auto &kernel : all)
    for (auto &code : kernel->code) {
      if (code->start_checksum ||
          code->segment >= builder.program.segments.size())
        continue;
      const artifact::SegmentT &segment =
          *builder.program.segments[code->segment];
      // A mistake may have put it elsewhere.
      bool isInside = segment.offset >= builder.base &&
                      segment.offset - builder.base <= builder.bytes.size() &&
                      segment.size <= builder.bytes.size() -
                                          (segment.offset - builder.base);
      if (!isInside || code->offset >= segment.size)
        continue;
      code->start_checksum = rt::checksum(
          &builder.bytes[segment.offset - builder.base + code->offset],
          std::min<uint64_t>(rt::FileHeader::kCodeStartBytes,
                             segment.size - code->offset));
    }
}

static void describeToy(artifact::ProgramT &program) {
  program.vocabulary_size = kToyVocabulary;
  program.slot_bytes = kToySlotBytes;
  program.parameters = 2 * kToyVocabulary * kToyChannels;
  program.head_flops_per_row = 2 * kToyVocabulary * kToyChannels;
  program.model_width = kToyChannels;
  program.layout_id = 0x0123456789abcdef;
  addState(program, "sum", artifact::StateKind::Sum, artifact::ElementType::F32,
           {kToyChannels}, 64, 12);
  addState(program, "tally", artifact::StateKind::Scalar,
           artifact::ElementType::I64, {1}, 128, 8);
  program.generation = std::make_unique<artifact::GenerationT>();
  program.generation->eos = {kToyEnd};
  program.provenance = std::make_unique<artifact::ProvenanceT>();
  program.provenance->compiler = "toy";
  program.provenance->family = "toy";
  program.provenance->options = {"--target=host"};
}

artifact::TargetPlanT &effc::test::addToyTarget(artifact::ProgramT &program,
                                                const char *name,
                                                uint32_t code) {
  auto target = std::make_unique<artifact::TargetPlanT>();
  target->name = name;
  for (const auto &host : program.kernels) {
    auto kernel = std::make_unique<artifact::KernelT>(*host);
    kernel->threads = 64;
    kernel->code.resize(1);
    kernel->code[0]->segment = code;
    kernel->code[0]->offset = 0;
    target->kernels.push_back(std::move(kernel));
  }
  for (const auto &host : program.entries)
    target->entries.push_back(std::make_unique<artifact::EntryT>(*host));
  program.targets.push_back(std::move(target));
  return *program.targets.back();
}

std::vector<uint8_t> effc::test::toyHostCode() {
  return readElfImage(EFFC_TOY_KERNELS).bytes;
}

ToyOptions effc::test::toyWithTarget() {
  ToyOptions options;
  options.code = {{artifact::SegmentKind::SimCode, "sim_80",
                   std::vector<uint8_t>(64, 0xCC)}};
  options.changeProgram = [](artifact::ProgramT &program) {
    addToyTarget(program, "sim_80", 3);
  };
  return options;
}

void effc::test::addChatTemplate(artifact::TokenizerT &table, std::string name,
                                 std::string source) {
  auto chat = std::make_unique<artifact::ChatTemplateT>();
  chat->name = std::move(name);
  chat->source = std::move(source);
  table.chat_templates.push_back(std::move(chat));
}

void effc::test::addNamedToken(artifact::TokenizerT &table, std::string name,
                               std::string content) {
  auto token = std::make_unique<artifact::NamedTokenT>();
  token->name = std::move(name);
  token->content = std::move(content);
  table.named_tokens.push_back(std::move(token));
}

std::vector<uint8_t> effc::test::makeToyArtifact(const ToyOptions &options) {
  // The program comes first and its size is not known yet.
  const uint64_t programRoom = options.programRoom;
  Builder builder{{}, programRoom, {}};
  describeToy(builder.program);
  if (options.withKeys)
    addKeys(builder.program);
  if (options.keysAlone)
    replaceByKeys(builder.program);
  addKernels(builder, options);
  addWeights(builder);
  if (options.withTokenizer) {
    artifact::TokenizerT tokenizer = makeToyTokenizer();
    if (options.changeTokenizer)
      options.changeTokenizer(tokenizer);
    flatbuffers::FlatBufferBuilder packed;
    artifact::FinishTokenizerBuffer(
        packed, artifact::Tokenizer::Pack(packed, &tokenizer));
    builder.addSegment(artifact::SegmentKind::Tokenizer,
                       {packed.GetBufferPointer(),
                        packed.GetBufferPointer() + packed.GetSize()});
  }
  for (const ToyCode &code : options.code)
    builder.addSegment(code.kind, code.bytes, code.isa);
  for (uint32_t rows : options.prefillRows)
    addEntry(builder.program, artifact::EntryKind::Prefill, rows, options.chunk,
             options);
  for (uint32_t rows : options.decodeRows)
    addEntry(builder.program, artifact::EntryKind::Decode, rows, 1, options);
  stateExtents(builder.program);
  if (options.changeProgram)
    options.changeProgram(builder.program);
  checkStarts(builder, builder.program.kernels);
  for (auto &target : builder.program.targets)
    checkStarts(builder, target->kernels);
  flatbuffers::FlatBufferBuilder packed;
  artifact::FinishProgramBuffer(
      packed, artifact::Program::Pack(packed, &builder.program));
  if (rt::FileHeader::kBytes + packed.GetSize() > programRoom) {
    std::fprintf(stderr, "the toy program has %u bytes\n",
                 unsigned(packed.GetSize()));
    std::abort();
  }

  std::vector<uint8_t> file(programRoom);
  file.insert(file.end(), builder.bytes.begin(), builder.bytes.end());
  std::memcpy(&file[rt::FileHeader::kBytes], packed.GetBufferPointer(),
              packed.GetSize());
  rt::FileHeader header;
  header.fileSize = file.size();
  header.programOffset = rt::FileHeader::kBytes;
  header.programSize = packed.GetSize();
  rt::FileHeader::Bytes bytes = header.encode();
  std::memcpy(file.data(), bytes.data(), bytes.size());
  repairHeader(file);
  return file;
}

std::vector<uint8_t> effc::test::makeOtherToy(ToyOptions options,
                                              uint32_t stride) {
  uint64_t head = 0;
  auto before = options.changeProgram;
  options.changeProgram = [&](artifact::ProgramT &program) {
    if (before)
      before(program);
    head = program.weights[1]->offset;
    for (const auto &segment : program.segments)
      if (segment->kind == artifact::SegmentKind::Weights)
        head += segment->offset;
  };
  std::vector<uint8_t> bytes = makeToyArtifact(options);
  constexpr uint64_t kRow = 64;
  for (uint32_t token = 0; stride > 0 && token + 1 < kToyVocabulary;
       token += stride)
    std::copy_n(bytes.begin() + long(head + (token + 1) * kRow), kRow,
                bytes.begin() + long(head + token * kRow));
  return bytes;
}

void effc::test::repairHeader(std::vector<uint8_t> &bytes) {
  rt::FileHeader header = rt::FileHeader::decode(bytes.data());
  if (header.programOffset <= bytes.size() &&
      header.programSize <= bytes.size() - header.programOffset)
    header.programChecksum =
        rt::checksum(bytes.data() + header.programOffset, header.programSize);
  rt::FileHeader::Bytes encoded = header.encode();
  header.headerChecksum =
      rt::checksum(encoded.data(), rt::FileHeader::kCheckedBytes);
  encoded = header.encode();
  std::memcpy(bytes.data(), encoded.data(), encoded.size());
}

int32_t effc::test::likeliest(const std::vector<float> &logits) {
  return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) -
                              logits.begin());
}

int32_t effc::test::drawnByToy(const std::vector<float> &logits, float scale,
                               float amount, uint32_t key, uint32_t counter) {
  std::vector<float> sums;
  for (uint32_t token = 0; token < logits.size(); ++token) {
    uint32_t noise = (key ^ counter ^ token) * 40503u;
    sums.push_back(logits[token] * scale +
                   amount * static_cast<float>(noise & 1023) * 0.125f);
  }
  return likeliest(sums);
}

TemporaryFile::TemporaryFile(const std::vector<uint8_t> &bytes) {
  const char *folder = std::getenv("TMPDIR");
  name = std::string(folder ? folder : "/tmp") + "/effc-toy-XXXXXX";
  descriptor = mkstemp(name.data());
  if (descriptor < 0)
    std::abort();
  patch(0, bytes.data(), bytes.size());
}

void TemporaryFile::patch(uint64_t offset, const void *bytes, size_t size) {
  if (pwrite(descriptor, bytes, size, static_cast<off_t>(offset)) !=
      static_cast<ssize_t>(size))
    std::abort();
}

void TemporaryFile::resize(uint64_t size) {
  if (ftruncate(descriptor, static_cast<off_t>(size)) != 0)
    std::abort();
}

TemporaryFile::~TemporaryFile() {
  close(descriptor);
  unlink(name.c_str());
}
