#include "compiler/Rebind.h"

#include "compiler/CanonicalOptions.h"
#include "frontend/checkpoint/MappedFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace effc;
using artifact::SegmentKind;
using codegen::ArtifactParts;
using llvm::createStringError;

static constexpr llvm::StringLiteral kSettingsFile = "generation_config.json";

/// "effc 0.1.0 (commit c, LLVM 22.1.0)".
static std::string describeCompiler(llvm::StringRef compiler,
                                    llvm::StringRef commit,
                                    llvm::StringRef llvm) {
  return (compiler + " (commit " + commit + ", LLVM " + llvm + ")").str();
}

/// Whether the file can get weights, by this compiler.
static llvm::Error checkFile(const std::string &path,
                             const ArtifactParts &parts) {
  auto refuse = [&](const llvm::Twine &reason) {
    return createStringError("'" + path +
                             "' cannot get other weights: " + reason);
  };
  const artifact::ProvenanceT *made = parts.program->provenance.get();
  if (!made)
    return refuse("it does not say how it was compiled");
  // Another compiler may round or place numbers in another way than the code was
  // made for.
  std::string own = describeCompiler(("effc " + getVersion()).str(),
                                     getCommit(), LLVM_VERSION_STRING),
              its = describeCompiler(made->compiler, made->commit, made->llvm);
  if (own != its)
    return refuse("expects a file of this compiler, " + own +
                  ", but it was compiled by " + its +
                  ": compile the model again, or rebind with that effc");
  if (!parts.has(SegmentKind::Weights))
    return refuse("it has none, since it was compiled with --weights none");
  if (!parts.has(SegmentKind::SeqModule))
    return refuse("it was compiled with --strip-ir, so that no model can be "
                  "compared with its own");
  return llvm::Error::success();
}

/// How the file was compiled, for the model that it gets weights of.
static llvm::Expected<CompileOptions> readOptions(const RebindOptions &given,
                                                  const ArtifactParts &parts) {
  CompileOptions options;
  if (llvm::Error error =
          readCanonicalOptions(parts.program->provenance->options, options))
    return std::move(error);
  if (!options.importance.empty() && given.importance.empty())
    return createStringError(
        "'" + given.file + "' has weights rounded by the importance of '" +
        options.importance +
        "': expects such a file for the new ones, the same or another "
        "(--importance)");
  if (options.importance.empty() && !given.importance.empty())
    return createStringError("'" + given.file +
                             "' has weights rounded without importance, but "
                             "got --importance " +
                             given.importance);
  options.importance = given.importance;
  options.model = given.model;
  options.weightsFrom = given.weightsFrom;
  options.output = given.output;
  options.durable = given.durable;
  return options;
}

/// Whether a file of this name says what the model is or holds its weights; the
/// others are those of tokenizer, template and settings.
static bool isOfModel(llvm::StringRef name, llvm::StringRef importance) {
  return name == "config.json" || name == importance ||
         name.ends_with(".mlir") || name.ends_with(".gguf") ||
         name.ends_with(".safetensors") ||
         name.ends_with(".safetensors.index.json");
}

/// The importance file's name in options as a file keeps them.
static std::string importanceOf(const artifact::ProvenanceT &made) {
  CompileOptions options;
  if (llvm::Error error = readCanonicalOptions(made.options, options))
    llvm::consumeError(std::move(error));
  return options.importance;
}

std::vector<codegen::SourceFile>
effc::mergeSources(const artifact::ProvenanceT &own,
                   const std::vector<frontend::SourceFile> &found) {
  std::vector<codegen::SourceFile> sources;
  for (const frontend::SourceFile &file : found)
    if (file.name != kSettingsFile)
      sources.push_back({file.name, file.size, file.checksum});
  std::string importance = importanceOf(own);
  for (const auto &file : own.sources)
    if (!isOfModel(file->name, importance))
      sources.push_back({file->name, file->size, file->checksum});
  llvm::stable_sort(
      sources, [](const auto &a, const auto &b) { return a.name < b.name; });
  return sources;
}

/// What a folder may have of which the file keeps its own.
static constexpr llvm::StringLiteral kKeptFiles[] = {
    "tokenizer.json",      "tokenizer_config.json",
    "chat_template.jinja", "special_tokens_map.json",
    "added_tokens.json",   "tokenizer.model",
    "tiktoken.model",      kSettingsFile};

std::vector<std::string> effc::listOtherIds(const artifact::ProgramT &own,
                                            const frontend::Generation &found) {
  std::vector<std::string> notes;
  auto compare = [&](const char *kind, const std::vector<int32_t> &theirs,
                     const std::vector<int32_t> &kept) {
    auto list = [](const std::vector<int32_t> &ids) {
      return ids.empty()
                 ? std::string("none")
                 : llvm::join(
                       llvm::map_range(
                           ids, [](int32_t id) { return std::to_string(id); }),
                       ", ");
    };
    if (!theirs.empty() && theirs != kept)
      notes.push_back(std::string("the model's ") + kind + " is " +
                      list(theirs) + ", the file's is " + list(kept) +
                      ", which stays");
  };
  auto one = [](std::optional<int32_t> id) {
    return id.value_or(-1) < 0 ? std::vector<int32_t>()
                               : std::vector<int32_t>{*id};
  };
  const artifact::GenerationT *kept = own.generation.get();
  compare("first token", one(found.bos),
          kept ? one(kept->bos) : std::vector<int32_t>());
  compare("end token", found.eos, kept ? kept->eos : std::vector<int32_t>());
  return notes;
}

/// What lies in the checkpoint's folder but differs from what the file has.
static std::vector<std::string> listLeftAside(const std::string &folder,
                                              const artifact::ProvenanceT &own,
                                              bool hasTokenizer) {
  std::vector<std::string> notes;
  if (hasTokenizer && llvm::StringRef(folder).ends_with(".gguf"))
    notes.push_back("the tokenizer of '" +
                    llvm::sys::path::filename(folder).str() +
                    "' is left aside, whatever it is: the file's stays");
  if (!llvm::sys::fs::is_directory(folder))
    return notes;
  llvm::StringMap<uint64_t> checksums;
  for (const auto &file : own.sources)
    checksums[file->name] = file->checksum;
  for (llvm::StringRef name : kKeptFiles) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, name);
    if (!hasTokenizer && name != kSettingsFile)
      continue; // nor was it asked for
    if (!llvm::sys::fs::exists(path))
      continue;
    auto file = frontend::MappedFile::open(path, name);
    llvm::Expected<uint64_t> checksum =
        file ? (*file)->checksum() : llvm::Expected<uint64_t>(file.takeError());
    if (!checksum) { // it is not used
      llvm::consumeError(checksum.takeError());
      continue;
    }
    auto known = checksums.find(name);
    if (known == checksums.end())
      notes.push_back(
          ("'" + name + "' is left aside: the file was compiled without one")
              .str());
    else if (known->second != *checksum)
      notes.push_back(("'" + name +
                       "' differs from the one that the file was "
                       "compiled with, which stays")
                          .str());
  }
  return notes;
}

llvm::Expected<Rebound>
effc::rebind(const RebindOptions &given,
             const std::function<void(uint64_t, uint64_t)> &progress) {
  llvm::Expected<ArtifactParts> parts = codegen::readArtifact(given.file);
  if (!parts)
    return parts.takeError();
  if (llvm::Error error = checkFile(given.file, *parts))
    return std::move(error);
  llvm::Expected<CompileOptions> options = readOptions(given, *parts);
  if (!options)
    return options.takeError();
  Rebound result;
  result.weights = parts->program->weights.size();
  result.notes =
      listLeftAside(given.weightsFrom.empty() ? given.model : given.weightsFrom,
                    *parts->program->provenance, options->tokenizer);
  CompileEvents events;
  events.weights = progress;
  events.written = [&](const CompiledFile &file) { result.file = file; };
  llvm::Expected<uint64_t> changed =
      rebindParts(std::move(*parts), *options, events, result.notes);
  if (!changed)
    return changed.takeError();
  result.changed = *changed;
  return result;
}
