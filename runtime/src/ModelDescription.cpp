// What a model says about itself: memory in bytes, and everything as JSON.
// `effc inspect` prints from this document, so that it needs no second reader.

#include "runtime/src/JsonWriter.h"
#include "runtime/src/KernelWork.h"
#include "runtime/src/Model.h"
#include "runtime/src/ModelChecks.h"
#include "runtime/src/tokenizer/Tokenizer.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

using namespace effc;
using namespace effc::rt;

/// An enumerator's name in lower case: "HostCode" becomes "host_code".
static std::string snakeCase(const char *name) {
  std::string out;
  for (const char *c = name; *c; ++c) {
    bool upper = std::isupper(static_cast<unsigned char>(*c));
    bool afterLower =
        c != name && std::islower(static_cast<unsigned char>(c[-1]));
    if (upper && afterLower)
      out += '_';
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
  }
  return out;
}

static std::string hex(uint64_t number) {
  std::string out(16, '0');
  for (size_t i = 16; i-- > 0; number >>= 4)
    out[i] = "0123456789abcdef"[number & 15];
  return out;
}

static std::string_view text(const flatbuffers::String *string) {
  return string ? string->string_view() : std::string_view();
}

static void writeShape(JsonWriter &json,
                       const flatbuffers::Vector<uint64_t> &shape) {
  json.key("shape");
  json.beginArray();
  for (uint64_t dimension : shape)
    json.value(dimension);
  json.endArray();
}

static void writeProvenance(JsonWriter &json,
                            const artifact::Provenance &provenance) {
  json.key("provenance");
  json.beginObject();
  json.field("compiler", text(provenance.compiler()));
  json.field("commit", text(provenance.commit()));
  json.field("llvm", text(provenance.llvm()));
  json.field("family", text(provenance.family()));
  if (provenance.ptxas())
    json.field("ptxas", text(provenance.ptxas()));
  json.key("options");
  json.beginArray();
  if (provenance.options())
    for (const flatbuffers::String *option : *provenance.options())
      json.value(option->string_view());
  json.endArray();
  json.key("sources");
  json.beginArray();
  if (provenance.sources())
    for (const artifact::SourceFile *source : *provenance.sources()) {
      json.beginObject();
      json.field("name", source->name()->string_view());
      json.field("bytes", source->size());
      json.field("checksum", hex(source->checksum()));
      json.endObject();
    }
  json.endArray();
  json.endObject();
}

static void writeSegments(JsonWriter &json, const artifact::Program &program) {
  json.key("segments");
  json.beginArray();
  for (const artifact::Segment *segment : *program.segments()) {
    json.beginObject();
    json.field("kind",
               snakeCase(artifact::EnumNameSegmentKind(segment->kind())));
    if (segment->isa())
      json.field("isa", segment->isa()->string_view());
    json.field("offset", segment->offset());
    json.field("bytes", segment->size());
    json.field("checksum", hex(segment->checksum()));
    json.endObject();
  }
  json.endArray();
}

static void writeWeights(JsonWriter &json, const artifact::Program &program) {
  json.key("weights");
  json.beginArray();
  for (const artifact::Weight *weight : *program.weights()) {
    json.beginObject();
    json.field("name", weight->name()->string_view());
    json.field("source", text(weight->source()));
    json.field("type", typeName(program, *weight));
    writeShape(json, *weight->shape());
    json.field("bytes", weight->size());
    if (weight->file() != 0)
      json.field("file",
                 text(program.weight_files()->Get(weight->file() - 1)->name()));
    json.endObject();
  }
  json.endArray();
}

static void writeWeightFiles(JsonWriter &json,
                             const artifact::Program &program) {
  json.key("weight_files");
  json.beginArray();
  if (program.weight_files())
    for (const artifact::WeightFile *file : *program.weight_files()) {
      json.beginObject();
      json.field("name", text(file->name()));
      json.field("bytes", file->size());
      json.endObject();
    }
  json.endArray();
}

static void writeStates(JsonWriter &json, const artifact::Program &program) {
  json.key("states");
  json.beginArray();
  for (const artifact::State *state : *program.states()) {
    json.beginObject();
    json.field("name", state->name()->string_view());
    // The rows of first tokens that stay are of the kind of all keys.
    bool isFirst = state->kind() == artifact::StateKind::Growing &&
                   state->growth() == artifact::Growth::Fixed;
    json.field("kind",
               isFirst ? "first"
                       : snakeCase(artifact::EnumNameStateKind(state->kind())));
    json.field("growth", snakeCase(artifact::EnumNameGrowth(state->growth())));
    json.field("type",
               state->type() == artifact::ElementType::Blocks
                   ? "int8"
                   : snakeCase(artifact::EnumNameElementType(state->type())));
    writeShape(json, *state->shape());
    json.field("neutral", double(state->neutral()));
    json.field("bytes", state->size());
    json.endObject();
  }
  json.endArray();
}

/// Where kernels of a plan start, by segment and offset.
using CodeStarts = std::set<std::pair<uint32_t, uint64_t>>;

static CodeStarts startsOf(const Plan &plan) {
  CodeStarts starts;
  for (const artifact::Kernel *kernel : *plan.kernels)
    for (const artifact::KernelCode *code : *kernel->code())
      starts.emplace(code->segment(), code->offset());
  return starts;
}

/// The bytes from a kernel's entry point to what comes after it in its segment.
static uint64_t codeBytes(const artifact::Program &program,
                          const CodeStarts &starts,
                          const artifact::KernelCode &code) {
  uint64_t end = program.segments()->Get(code.segment())->size();
  auto next = starts.upper_bound({code.segment(), code.offset()});
  if (next != starts.end() && next->first == code.segment())
    end = next->second;
  return end - code.offset();
}

/// Whether `code` is found by its place; in a module of the driver's it is by
/// its name.
static bool hasPlace(const artifact::Program &program,
                     const artifact::KernelCode &code) {
  artifact::SegmentKind kind = program.segments()->Get(code.segment())->kind();
  return kind == artifact::SegmentKind::HostCode ||
         kind == artifact::SegmentKind::SimCode;
}

/// What is not known is null.
static void writeLaunchWork(JsonWriter &json, const LaunchWork &work) {
  auto known = [&](const char *key, uint64_t number) {
    json.key(key);
    number ? json.value(number) : json.null();
  };
  json.key("entry");
  work.entry ? json.value(text(work.entry->name())) : json.null();
  known("launch_bytes", work.bytes);
  known("launch_flops", work.flops);
}

static void writeKernels(JsonWriter &json, const artifact::Program &program,
                         const Plan &plan) {
  std::vector<uint64_t> uses(plan.kernels->size());
  for (const artifact::Entry *entry : *plan.entries)
    for (const artifact::Launch *launch : *entry->launches())
      ++uses[launch->kernel()];
  std::vector<StepWork> steps = stepWorkOf(program, plan);
  std::vector<LaunchWork> launches = launchWorkOf(program, plan);
  CodeStarts starts = startsOf(plan);
  json.key("kernels");
  json.beginArray();
  for (uint32_t i = 0; i < plan.kernels->size(); ++i) {
    const artifact::Kernel &kernel = *plan.kernels->Get(i);
    json.beginObject();
    json.field("name", kernel.name()->string_view());
    json.field("operands", kernel.operands());
    json.field("stack_bytes", kernel.stack_bytes());
    if (!plan.isHost) {
      json.field("threads", kernel.threads());
      json.field("shared_bytes", kernel.shared_bytes());
      // ptxas says both, and every kernel has registers.
      if (kernel.registers() != 0) {
        json.field("registers", kernel.registers());
        json.field("spill_bytes", kernel.spill_bytes());
      }
      json.field("box_maps",
                 kernel.box_maps() ? kernel.box_maps()->size() : 0u);
      json.field("overlaps", kernel.overlaps());
      if (kernel.instructions()) {
        json.key("instructions");
        json.beginObject();
        for (const artifact::InstructionCount *one : *kernel.instructions())
          json.field(one->name()->c_str(), one->count());
        json.endObject();
      }
    }
    json.field("launches", uses[i]);
    json.field("step_bytes", steps[i].bytes);
    json.field("step_flops", steps[i].flops);
    writeLaunchWork(json, launches[i]);
    json.key("code");
    json.beginArray();
    for (const artifact::KernelCode *code : *kernel.code()) {
      json.beginObject();
      json.field("segment", code->segment());
      if (hasPlace(program, *code)) {
        json.field("offset", code->offset());
        json.field("bytes", codeBytes(program, starts, *code));
      }
      json.endObject();
    }
    json.endArray();
    json.endObject();
  }
  json.endArray();
}

static void writeEntries(JsonWriter &json, const artifact::Program &program,
                         const Plan &plan) {
  json.key("entries");
  json.beginArray();
  for (const artifact::Entry *entry : *plan.entries) {
    std::set<uint32_t> seen;
    uint64_t weights = 0;
    uint64_t launches = 0; // of a call that gives logits
    uint64_t products = 0; // among them
    bool chooses = false;
    for (const artifact::Launch *launch : *entry->launches()) {
      weights += streamedBytes(program, *launch, seen);
      launches += isPartOf(*launch, artifact::CallResult::Logits);
      products += launch->product() != nullptr;
      chooses |= launch->only_for() == artifact::CallResult::Choices;
    }
    json.beginObject();
    json.field("name", entry->name()->string_view());
    json.field("kind", snakeCase(artifact::EnumNameEntryKind(entry->kind())));
    json.field("rows", entry->rows());
    json.field("chunk", entry->chunk());
    json.field("arena_bytes", entry->arena_bytes());
    json.field("weight_bytes", weights);
    json.field("launches", launches);
    json.field("library_products", products);
    json.field("chooses", chooses);
    json.endObject();
  }
  json.endArray();
}

/// What of a token's FLOPs depends on how many tokens it sees.
static void writeKeyWork(JsonWriter &json, const artifact::Program &program) {
  json.key("key_work");
  json.beginArray();
  if (program.key_work())
    for (const artifact::KeyWork *keys : *program.key_work()) {
      json.beginObject();
      json.field("window", keys->window());
      json.field("flops_per_key", keys->flops());
      json.field("counted_keys", keys->counted());
      json.endObject();
    }
  json.endArray();
}

/// Which inner values a row has, where it has any.
static void writeTaps(JsonWriter &json, const artifact::Program &program) {
  if (!program.taps())
    return;
  json.key("taps");
  json.beginArray();
  for (const artifact::Tap *tap : *program.taps()) {
    json.beginObject();
    json.field("name", tap->name()->string_view());
    json.key("shape");
    json.beginArray();
    for (uint32_t extent : *tap->shape())
      json.value(extent);
    json.endArray();
    json.endObject();
  }
  json.endArray();
}

static void writeGeneration(JsonWriter &json,
                            const artifact::Generation &generation) {
  json.key("generation");
  json.beginObject();
  json.field("bos", generation.bos());
  json.field("pad", generation.pad());
  json.key("eos");
  json.beginArray();
  if (generation.eos())
    for (int32_t token : *generation.eos())
      json.value(token);
  json.endArray();
  json.field("do_sample", generation.do_sample());
  json.field("temperature", double(generation.temperature()));
  json.field("top_k", generation.top_k());
  json.field("top_p", double(generation.top_p()));
  json.field("min_p", double(generation.min_p()));
  json.field("repeat_penalty", double(generation.repeat_penalty()));
  json.key("stops");
  json.beginArray();
  if (generation.stops())
    for (const flatbuffers::String *stop : *generation.stops())
      json.value(stop->string_view());
  json.endArray();
  json.endObject();
}

static void writeChatTemplates(JsonWriter &json, const Model &model) {
  json.key("chat_templates");
  json.beginArray();
  if (const Tokenizer *tokenizer = model.tokenizer())
    for (const ChatTemplate &chat : tokenizer->templates()) {
      json.beginObject();
      json.field("name", chat.name);
      json.field("bytes", uint64_t(chat.source.size()));
      json.endObject();
    }
  json.endArray();
}

static void writeMemory(JsonWriter &json, const artifact::Program &program,
                        const Plan &plan) {
  Memory memory = memoryOf(program, plan);
  json.key("memory");
  json.beginObject();
  json.field("weights", memory.weights);
  json.field("per_session", memory.perSession);
  json.field("arena", memory.arena);
  json.field("logits", memory.logits);
  json.field("tables", memory.tables);
  json.field("fixed_per_session", memory.fixedPerSession);
  json.field("per_token", memory.perToken);
  json.endObject();
}

static void writeTargets(JsonWriter &json, const artifact::Program &program) {
  json.key("targets");
  json.beginArray();
  if (program.targets())
    for (const artifact::TargetPlan *target : *program.targets()) {
      Plan plan = planOf(*target);
      json.beginObject();
      json.field("name", plan.name);
      writeMemory(json, program, plan);
      writeEntries(json, program, plan);
      writeKernels(json, program, plan);
      json.endObject();
    }
  json.endArray();
}

std::string rt::describe(const Model &model) {
  const artifact::Program &program = model.program();
  JsonWriter json;
  json.beginObject();
  json.key("format");
  json.beginObject();
  json.field("major", uint32_t(model.header().major));
  json.field("minor", uint32_t(model.header().minor));
  json.endObject();
  json.field("file_bytes", model.header().fileSize);
  json.field("vocabulary_size", program.vocabulary_size());
  json.field("model_width", program.model_width());
  if (auto width = program.hidden_width())
    json.field("hidden_width", *width);
  writeTaps(json, program);
  json.field("max_context", program.max_context());
  json.field("parameters", program.parameters());
  json.field("flops_per_token",
             program.flops_per_token() + program.head_flops_per_row());
  writeKeyWork(json, program);
  json.field("head_flops_per_row", program.head_flops_per_row());
  json.field("layout_id", hex(program.layout_id()));
  json.field("tokenizer", model.tokenizer() != nullptr);
  writeChatTemplates(json, model);
  if (const artifact::Provenance *provenance = program.provenance())
    writeProvenance(json, *provenance);
  writeSegments(json, program);
  writeMemory(json, program, defaultPlan(program));
  writeStates(json, program);
  writeEntries(json, program, hostPlan(program));
  writeKernels(json, program, hostPlan(program));
  writeTargets(json, program);
  json.field("has_weights", model.hasWeights());
  writeWeightFiles(json, program);
  writeWeights(json, program);
  if (const artifact::Generation *generation = program.generation())
    writeGeneration(json, *generation);
  json.endObject();
  return json.take();
}
