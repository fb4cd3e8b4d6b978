#include "frontend/Import.h"

#include "dialects/seq/Seq.h"
#include "dialects/storage/Formats.h"
#include "frontend/ModuleText.h"
#include "frontend/checkpoint/ForeignFile.h"
#include "frontend/checkpoint/Refusal.h"
#include "frontend/gguf/Adapted.h"
#include "frontend/gguf/Tokenizer.h"
#include "frontend/quantised/Methods.h"
#include "frontend/tokenizer/MergeFiles.h"
#include "frontend/tokenizer/SentencePiece.h"
#include "frontend/tokenizer/TokenizerImport.h"
#include "frontend/tokenizer/VocabularyFile.h"
#include "frontend/weights/Weights.h"
#include "runtime/schema/tokenizer_generated.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace effc;
using namespace effc::frontend;

namespace {

constexpr int64_t kMostVocabulary = int64_t(1) << 24;
constexpr llvm::StringLiteral kConfigFile = "config.json";
constexpr llvm::StringLiteral kTokenizerFile = "tokenizer.json";

/// Imports one model; what is found on the way is collected in `model`.
class Importer {
public:
  Importer(mlir::MLIRContext &context, const ImportOptions &options)
      : context(context), options(options) {
    context.loadDialect<mlir::func::FuncDialect, seq::SeqDialect>();
  }

  llvm::Error importDirectory(llvm::StringRef path) {
    if (llvm::Error error = parseTypes())
      return error;
    if (!options.weightsFrom.empty())
      return refuse("weights are read from the checkpoint " + quote(path) +
                    ": no other directory can be given");
    auto checkpoint = Checkpoint::open(path, options.weights);
    if (!checkpoint)
      return checkpoint.takeError();
    model.checkpoint = std::move(*checkpoint);
    llvm::append_range(model.remarks, model.checkpoint->getRemarks());
    for (const std::string &file : model.checkpoint->getLeftAside())
      model.remarks.push_back(
          quote(file) + " is left aside: shapes are those of config.json");
    auto config = readJsonObject(pathOf(kConfigFile), kConfigFile);
    if (!config)
      return config.takeError();
    UnreadKeys unread{{}, model.remarks};
    for (const std::string &key : options.allow)
      unread.allowed.insert(key);
    ConfigReader reader(kConfigFile, *config->getObject(), &unread);
    // Where it is null, it is a tool's key like others.
    if (const JsonValue *name = config->getObject()->find("tokenizer_class");
        name && name->getString())
      tokenizerClass = *reader.getString("tokenizer_class");
    if (llvm::Error error =
            readQuantised(reader, context, *model.checkpoint, model.remarks))
      return error;
    if (llvm::Error error = readFamily(reader))
      return error;
    if (llvm::Error error = addSource(pathOf(kConfigFile), kConfigFile))
      return error;
    return readRest();
  }

  llvm::Error importGguf(llvm::StringRef path) {
    if (llvm::Error error = parseTypes())
      return error;
    if (!options.weightsFrom.empty())
      return refuse("weights are read from the file " + quote(path) +
                    ": no other directory can be given");
    auto opened = GgufModel::open(path);
    if (!opened)
      return opened.takeError();
    if (llvm::Error error = (*opened)->checkScales())
      return error;
    auto adapted = adaptGguf(std::move(*opened), options.allow);
    if (!adapted)
      return adapted.takeError();
    AdaptedGguf &gguf = *adapted;
    model.remarks = std::move(gguf.remarks);
    model.checkpoint = std::move(gguf.checkpoint);
    stored = gguf.form;
    isGguf = true;
    // Files beside it are not the model's.
    generationDirectory = "";
    Remarks ofFamily;
    std::swap(ofFamily, model.remarks);
    UnreadKeys unread{{}, model.remarks};
    ConfigReader reader(gguf.file, *gguf.config.getObject(), &unread);
    llvm::Error error = readFamily(reader);
    for (const std::string &remark : model.remarks)
      ofFamily.push_back(gguf.say(remark));
    model.remarks = std::move(ofFamily);
    if (error)
      return gguf.say(std::move(error));
    for (const auto &file : model.checkpoint->getFiles()) {
      const std::string &name = file->getFile().getName();
      if (llvm::Error error = addSource(pathOf(name), name))
        return error;
    }
    if (!options.tokenizer)
      return llvm::Error::success();
    return options.tokenizerFrom.empty() ? readTokenizerOf(gguf.keys)
                                         : readTokenizer();
  }

  llvm::Error importFile(llvm::StringRef path) {
    if (!options.weightsType.empty())
      return refuse("a module states the types of its weights: no other type "
                    "can be given");
    if (!options.importance.empty())
      return refuse("a module states the types of its weights: importance "
                    "changes none of them (--importance)");
    if (!options.allow.empty())
      return refuse("a module has no 'config.json' of which a key could be "
                    "allowed");
    if (options.ungroupedNorm)
      return refuse("a module states its norms: an ungrouped norm cannot be "
                    "asked for");
    if (options.streamed.window > 0)
      return refuse("a module states its windows: another one cannot be asked "
                    "for");
    if (llvm::Error error = readModule(path))
      return error;
    if (llvm::Error error = addSource(path, llvm::sys::path::filename(path)))
      return error;
    if (options.weightsFrom.empty())
      return llvm::Error::success();
    auto checkpoint = Checkpoint::open(options.weightsFrom);
    if (!checkpoint)
      return checkpoint.takeError();
    model.checkpoint = std::move(*checkpoint);
    llvm::append_range(model.remarks, model.checkpoint->getRemarks());
    for (auto weight : model.module->getOps<seq::WeightOp>()) {
      if (weight.getComputed())
        continue;
      if (llvm::Error error = checkWeight(weight, *model.checkpoint))
        return error;
      for (llvm::StringRef source : weight.getSources())
        model.checkpoint->take(source);
    }
    for (llvm::StringRef name : model.checkpoint->getUnread())
      model.remarks.push_back("tensor " + quote(name) +
                              " is not used by the module");
    JsonValue empty = llvm::cantFail(parseJson("{}", kConfigFile));
    ConfigReader reader(kConfigFile, *empty.getObject());
    if (llvm::Error error = readGenerationFor(reader))
      return error;
    return readRest();
  }

  ImportedModel take() { return std::move(model); }

private:
  llvm::Error parseTypes() {
    if (options.weightsType.empty())
      return llvm::Error::success();
    auto parsed = WeightTypes::parse(options.weightsType, context);
    if (!parsed)
      return parsed.takeError();
    types = std::move(*parsed);
    types->heedImportance(!options.importance.empty());
    return llvm::Error::success();
  }

  /// The tokenizer that lies in a GGUF file.
  llvm::Error readTokenizerOf(GgufMetadata &keys) {
    auto described = describeGgufTokenizer(keys, model.remarks);
    if (!described)
      return described.takeError();
    if (!*described)
      return llvm::Error::success();
    GgufTokenizer &gguf = **described;
    auto bytes = translateTokenizer(gguf.text, keys.getFile(), vocabulary,
                                    model.remarks, gguf.settings);
    if (!bytes)
      return bytes.takeError();
    model.tokenizer = std::move(*bytes);
    addTokenizersEnd(gguf.settings);
    for (int32_t id : gguf.ends)
      addEnd(id, gguf.tokens[size_t(id)],
             "which its name says and no key of the file");
    return llvm::Error::success();
  }

  std::string pathOf(llvm::StringRef file) const {
    return model.checkpoint->getPath(file);
  }

  const std::string &tokenizerDirectory() const {
    return options.tokenizerFrom.empty() ? model.checkpoint->getDirectory()
                                         : options.tokenizerFrom;
  }
  std::string tokenizerPathOf(llvm::StringRef file) const {
    llvm::SmallString<128> path(tokenizerDirectory());
    llvm::sys::path::append(path, file);
    return path.str().str();
  }

  llvm::Error readFamily(ConfigReader &reader) {
    if (const JsonValue *type = reader.get("model_type"))
      if (type->getString())
        modelType = *type->getString();
    const Family *family = findFamily(reader);
    if (!family)
      return reader.getProblem();
    if (reader.get("auto_map") && !reader.isAllowed("auto_map")) {
      if (!family->hasOwnCode)
        reader.reportBeside(
            "'auto_map' names code of the checkpoint's own, which is "
            "not run: where it computes what the public library "
            "does, --allow auto_map");
      else
        model.remarks.push_back("config.json: 'auto_map' is ignored: the code "
                                "it names is not run");
    }
    if (reader.getBoolean("is_encoder_decoder", false))
      reader.reportBeside(
          "expects 'is_encoder_decoder' to be false, but got true");
    // The importer finishes the reader, so every other key is asked for first.
    vocabulary = family->readVocabulary(reader, kMostVocabulary);
    mlir::Type declared = readDeclaredType(reader);
    if (!reader.hasProblem())
      if (llvm::Error error = readGenerationFor(reader))
        return error;
    FamilyInput input = {&context,
                         reader,
                         *model.checkpoint,
                         vocabulary,
                         declared,
                         types ? &*types : nullptr,
                         options.ungroupedNorm,
                         options.maxContext,
                         options.streamed,
                         stored,
                         model.remarks};
    auto module = family->import(input);
    if (!module)
      return module.takeError();
    if (options.streamed.window > 0 && !input.streams)
      return refuse("a window of " + std::to_string(options.streamed.window) +
                    (options.streamed.sinks == 0
                         ? " tokens is"
                         : " tokens beside the first " +
                               std::to_string(options.streamed.sinks) + " is") +
                    " asked for, but " +
                    (input.widestKept == 0
                         ? "no layer of the model keeps keys"
                         : "the layers of the model that keep keys see at most "
                           "the last " +
                               std::to_string(input.widestKept)) +
                    " (--window)");
    model.module = std::move(*module);
    auto walked = model.module->walk([](mlir::Operation *op) {
      return llvm::isa<seq::RoutedExpertsOp, seq::ExpertHiddenOp>(op)
                 ? mlir::WalkResult::interrupt()
                 : mlir::WalkResult::advance();
    });
    model.entryNames =
        EntryNames(modelType, isGguf, /*hasExperts=*/walked.wasInterrupted());
    return findImportance();
  }

  llvm::Error findImportance() {
    if (options.importance.empty())
      return llvm::Error::success();
    auto file = ImportanceFile::open(options.importance);
    if (!file)
      return file.takeError();
    auto found = WeightImportance::find(*file, *model.module, modelType, isGguf,
                                        model.remarks);
    if (!found)
      return found.takeError();
    model.importance = std::move(*found);
    return addSource(options.importance, file->getName());
  }

  /// How all matrices are stored where the configuration's word stands for them;
  /// null: there are weights.
  mlir::Type readDeclaredType(ConfigReader &reader) {
    if (model.checkpoint->hasWeights())
      return {};
    constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> kTypes[] = {
        {"float32", "f32"}, {"bfloat16", "bf16"}, {"float16", "f16"}};
    for (const char *key : {"dtype", "torch_dtype"})
      if (const JsonValue *value = reader.get(key))
        for (const auto &[spelling, type] : kTypes)
          if (value->getString() && *value->getString() == spelling)
            return storage::formatOf(type, &context);
    if (options.weightsType.empty())
      model.remarks.push_back("config.json names no type of weights: matrices "
                              "are taken as f32");
    return mlir::Float32Type::get(&context);
  }

  llvm::Error readGenerationFor(ConfigReader &reader) {
    auto generation = readGeneration(
        reader, generationDirectory.value_or(model.checkpoint->getDirectory()),
        vocabulary, model.remarks);
    if (!generation)
      return generation.takeError();
    model.generation = std::move(*generation);
    return llvm::Error::success();
  }

  /// The tokenizer, and what the provenance lists.
  llvm::Error readRest() {
    std::vector<std::string> files = model.checkpoint->getFileNames();
    if (llvm::sys::fs::exists(pathOf("generation_config.json")))
      files.push_back("generation_config.json");
    for (const std::string &file : files)
      if (llvm::Error error = addSource(pathOf(file), file))
        return error;
    return options.tokenizer ? readTokenizer() : llvm::Error::success();
  }

  /// The tokenizer whose files lie in a directory.
  llvm::Error readTokenizer() {
    if (!options.tokenizerFrom.empty() &&
        !llvm::sys::fs::is_directory(options.tokenizerFrom))
      return refuse("expects " + quote(options.tokenizerFrom) +
                    " to be the directory of a tokenizer (--tokenizer)");
    auto settings = readTokenizerSettings(tokenizerDirectory());
    if (!settings)
      return settings.takeError();
    // As in the library, the tokenizer's own file counts first.
    if (settings->tokenizerClass.empty())
      settings->setClass(tokenizerClass);
    if (!llvm::sys::fs::exists(tokenizerPathOf(kTokenizerFile)))
      return readVocabulary(*settings);
    auto bytes =
        importTokenizer(tokenizerPathOf(kTokenizerFile), kTokenizerFile,
                        vocabulary, model.remarks, *settings);
    if (!bytes)
      return bytes.takeError();
    model.tokenizer = std::move(*bytes);
    addTokenizersEnd(*settings);
    if (llvm::Error error = addSources(settings->files))
      return error;
    return addSource(tokenizerPathOf(kTokenizerFile), kTokenizerFile);
  }

  /// A tokenizer in a file that is not read is refused: an artifact without one
  /// would surprise whoever gives it a text.
  llvm::Error readNoTokenizer() {
    for (const char *file :
         {"tekken.json", "sentencepiece.bpe.model", "vocab.txt"})
      if (llvm::sys::fs::exists(tokenizerPathOf(file)))
        return refuse(
            "the tokenizer lies in " + quote(file) +
            " alone, which is not read: save it with the public library "
            "(AutoTokenizer.from_pretrained(DIR).save_pretrained(DIR)), which "
            "writes a tokenizer.json, or leave it out with --no-tokenizer");
    std::string what = "there is no 'tokenizer.json'";
    if (llvm::sys::fs::exists(tokenizerPathOf(kVocabularyFile)))
      what += ", and " + quote(kVocabularyFile) + " has no " +
              quote(kMergesFile) + " beside it";
    if (!options.tokenizerFrom.empty())
      return refuse(quote(options.tokenizerFrom) +
                    " has no tokenizer: " + what + " (--tokenizer)");
    model.remarks.push_back(what + ": the model takes and gives token ids");
    return llvm::Error::success();
  }

  /// A tokenizer in vocab.json and merges.txt.
  llvm::Error readMergeFiles(TokenizerSettings settings) {
    std::string texts[2];
    llvm::StringRef names[] = {kVocabularyFile, kMergesFile};
    for (auto [name, text] : llvm::zip_equal(names, texts)) {
      constexpr uint64_t kMostFileBytes = uint64_t(256) << 20;
      auto read = readTextFile(tokenizerPathOf(name), name, kMostFileBytes);
      if (!read)
        return read.takeError();
      text = std::move(*read);
      if (llvm::Error error = addSource(tokenizerPathOf(name), name))
        return error;
    }
    auto text = describeMerges(texts[0], texts[1], modelType, settings);
    if (!text)
      return text.takeError();
    auto bytes = translateTokenizer(*text, kVocabularyFile, vocabulary,
                                    model.remarks, settings);
    if (!bytes)
      return bytes.takeError();
    model.tokenizer = std::move(*bytes);
    addTokenizersEnd(settings);
    return addSources(settings.files);
  }

  /// A tokenizer in a file of SentencePiece.
  llvm::Error readSentencePiece(llvm::StringRef name,
                                TokenizerSettings settings) {
    constexpr uint64_t kMostFileBytes = uint64_t(256) << 20;
    auto bytes = readTextFile(tokenizerPathOf(name), name, kMostFileBytes);
    if (!bytes)
      return bytes.takeError();
    auto text =
        describeSentencePiece(*bytes, name, modelType, settings, model.remarks);
    if (!text)
      return text.takeError();
    auto segment =
        translateTokenizer(*text, name, vocabulary, model.remarks, settings);
    if (!segment)
      return segment.takeError();
    model.tokenizer = std::move(*segment);
    addTokenizersEnd(settings);
    if (llvm::Error error = addSources(settings.files))
      return error;
    return addSource(tokenizerPathOf(name), name);
  }

  /// A tokenizer without a 'tokenizer.json'.
  llvm::Error readVocabulary(const TokenizerSettings &settings) {
    const std::string &directory = tokenizerDirectory();
    auto name = findVocabularyFile(directory);
    if (!name)
      return name.takeError();
    if (name->empty() &&
        llvm::sys::fs::exists(tokenizerPathOf(kVocabularyFile)) &&
        llvm::sys::fs::exists(tokenizerPathOf(kMergesFile)))
      return readMergeFiles(settings);
    if (name->empty())
      for (llvm::StringRef file : kSentencePieceFiles)
        if (llvm::sys::fs::exists(tokenizerPathOf(file)))
          return readSentencePiece(file, settings);
    if (name->empty())
      return readNoTokenizer();
    auto text = readVocabularyFile(directory, *name, model.remarks);
    if (!text)
      return text.takeError();
    auto bytes =
        translateTokenizer(*text, *name, vocabulary, model.remarks, settings);
    if (!bytes)
      return bytes.takeError();
    model.tokenizer = std::move(*bytes);
    addTokenizersEnd(settings);
    if (llvm::Error error = addSources(settings.files))
      return error;
    return addSource(tokenizerPathOf(*name), *name);
  }

  /// The token with which the tokenizer's maker ends a text ends a generation,
  /// too: of chat models often the end of a turn, which config.json does not
  /// name.
  void addTokenizersEnd(const TokenizerSettings &settings) {
    std::optional<std::string> end = settings.find("eos_token");
    const artifact::Tokenizer *tokenizer =
        artifact::GetTokenizer(model.tokenizer->data());
    if (!end || !tokenizer->added_tokens())
      return;
    for (const artifact::AddedToken *token : *tokenizer->added_tokens())
      if (token->content()->string_view() == *end)
        addEnd(token->id(), *end,
               "the 'eos_token' of the tokenizer, which neither config.json "
               "nor generation_config.json names");
  }

  /// Has a token end a generation, if none so far does.
  void addEnd(int32_t id, llvm::StringRef text, const char *why) {
    std::vector<int32_t> &ends = model.generation.eos;
    if (llvm::is_contained(ends, id) || id >= vocabulary)
      return;
    model.remarks.push_back("generation ends at token " + std::to_string(id) +
                            " " + quote(text) + " as well, " + why);
    ends.push_back(id);
  }

  llvm::Error addSources(const std::vector<std::string> &files) {
    for (const std::string &file : files)
      if (llvm::Error error = addSource(tokenizerPathOf(file), file))
        return error;
    return llvm::Error::success();
  }

  llvm::Error addSource(llvm::StringRef path, llvm::StringRef name) {
    auto file = MappedFile::open(path, name);
    if (!file)
      return file.takeError();
    auto checksum = (*file)->checksum();
    if (!checksum)
      return checksum.takeError();
    model.sources.push_back({name.str(), (*file)->size(), *checksum});
    llvm::sort(model.sources, [](const SourceFile &a, const SourceFile &b) {
      return a.name < b.name;
    });
    return llvm::Error::success();
  }

  llvm::Error readModule(llvm::StringRef path) {
    auto module = readModuleText(context, path);
    if (!module)
      return module.takeError();
    model.module = std::move(*module);
    auto description =
        (*model.module)->getAttrOfType<seq::ModelAttr>("seq.model");
    if (!description)
      return refuse(path + ":1:1: expects a module with 'seq.model'");
    vocabulary = description.getVocabulary();
    if (!model.module->lookupSymbol<mlir::func::FuncOp>("forward"))
      return refuse(path + ":1:1: expects a function '@forward'");
    return llvm::Error::success();
  }

  mlir::MLIRContext &context;
  const ImportOptions &options;
  std::optional<WeightTypes> types;
  int64_t vocabulary = 0;
  std::string modelType, tokenizerClass; // of config.json
  bool isGguf = false;
  StoredForm stored;
  /// Where generation_config.json may lie; "": nowhere; none: in the checkpoint.
  std::optional<std::string> generationDirectory;
  ImportedModel model;
};

} // namespace

llvm::Expected<ImportedModel>
frontend::importModel(mlir::MLIRContext &context, llvm::StringRef path,
                      const ImportOptions &options) {
  Importer importer(context, options);
  bool isModule = llvm::sys::path::extension(path) == ".mlir";
  if (!isModule && isGgufFile(path)) {
    if (llvm::Error error = importer.importGguf(path))
      return error;
    return importer.take();
  }
  // Whatever is no regular file is told of when it is opened.
  if (!isModule &&
      (llvm::sys::fs::is_regular_file(path) || !llvm::sys::fs::exists(path)))
    return refuseAsModel(path);
  if (llvm::Error error =
          isModule ? importer.importFile(path) : importer.importDirectory(path))
    return error;
  return importer.take();
}
