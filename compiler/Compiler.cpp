// Runs the phases and writes what they lead to.
#include "compiler/Compiler.h"

#include "codegen/artifact/OutputFile.h"
#include "compiler/Diagnostics.h"
#include "compiler/Register.h"
#include "frontend/Import.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <filesystem>

using namespace mlir;
using namespace effc;

StringRef effc::getVersion() { return EFFC_VERSION; }
StringRef effc::getCommit() { return EFFC_COMMIT; }

namespace {

class Compilation {
public:
  Compilation(const CompileOptions &options, const CompileEvents &events)
      : options(options), events(events),
        context(makeRegistry(), MLIRContext::Threading::DISABLED),
        diagnostics(context, events, options.fallbackIsError) {
    context.loadAllAvailableDialects();
  }

  llvm::Error run();

private:
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }
  llvm::Error import();
  llvm::Error checkOutput() const;
  llvm::Error runPhase(Phase phase);
  llvm::Error dump(Phase phase);
  llvm::Error printModule();
  llvm::Error writeArtifact();
  llvm::Error listWeightFiles(std::vector<codegen::WeightFile> &files) const;
  std::vector<std::string> canonicalOptions() const;

  const CompileOptions &options;
  const CompileEvents &events;
  MLIRContext context;
  DiagnosticCollector diagnostics;
  frontend::ImportedModel model;
  std::string seqBytecode;
};

llvm::Error Compilation::import() {
  frontend::ImportOptions importOptions;
  importOptions.weightsFrom = options.weightsFrom;
  importOptions.tokenizer = options.tokenizer;
  if (options.dtype == "f32")
    importOptions.dtype = frontend::WeightType::F32;
  else if (options.dtype == "bf16")
    importOptions.dtype = frontend::WeightType::BF16;
  else if (options.dtype == "f16")
    importOptions.dtype = frontend::WeightType::F16;
  importOptions.ungroupedNorm = options.ungroupedNorm;
  if (options.weights == codegen::WeightsMode::None)
    importOptions.weights = frontend::WeightsNeeded::ShapesOnly;
  llvm::Expected<frontend::ImportedModel> imported =
      frontend::importModel(context, options.model, importOptions);
  if (!imported)
    return imported.takeError();
  model = std::move(*imported);
  for (const std::string &remark : model.remarks)
    events.remark("import", remark);
  if (!options.stripIr) {
    llvm::raw_string_ostream stream(seqBytecode);
    BytecodeWriterConfig config("effc");
    if (failed(writeBytecodeToFile(*model.module, stream, config)))
      return diagnostics.takeError(
          "the seq module cannot be written as bytecode");
  }
  return llvm::Error::success();
}

llvm::Error Compilation::runPhase(Phase phase) {
  PassManager passes(&context);
  if (options.timing)
    passes.enableTiming();
  addPhase(passes, phase, options.pipeline);
  if (failed(passes.run(*model.module)) || diagnostics.hasError())
    return diagnostics.takeError(
        ("phase " + getPhaseInfo(phase).name + " failed").str());
  return llvm::Error::success();
}

llvm::Error Compilation::dump(Phase phase) {
  if (options.dumpPhases.empty())
    return llvm::Error::success();
  if (std::error_code code =
          llvm::sys::fs::create_directories(options.dumpPhases))
    return llvm::createStringError("cannot make folder " + options.dumpPhases +
                                   ": " + code.message());
  SmallString<128> path(options.dumpPhases);
  llvm::sys::path::append(path, getPhaseInfo(phase).dumpFile);
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  if (!code)
    model.module->print(stream);
  stream.close();
  if (code || stream.has_error())
    return llvm::createStringError("cannot write " + std::string(path) + ": " +
                                   (code ? code : stream.error()).message());
  return llvm::Error::success();
}

llvm::Error Compilation::printModule() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  model.module->print(stream);
  if (options.output.empty() || options.output == "-") {
    llvm::outs() << text;
    return llvm::Error::success();
  }
  llvm::Expected<codegen::OutputFile> file =
      codegen::OutputFile::create(options.output);
  if (!file)
    return file.takeError();
  if (llvm::Error error = file->write(llvm::arrayRefFromStringRef(text)))
    return error;
  return file->commit();
}

// The options that shape the file, spelt one way, so that it can be made again.
std::vector<std::string> Compilation::canonicalOptions() const {
  auto list = [](ArrayRef<int64_t> rows) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::interleave(rows, stream, ",");
    return text;
  };
  std::vector<std::string> result = {
      ("--target=" + options.target->name).str(),
      "--prefill-rows=" + list(options.pipeline.prefillRows),
      "--max-batch=" + std::to_string(options.pipeline.decodeRows.back())};
  if (!options.dtype.empty())
    result.push_back("--dtype=" + options.dtype);
  if (options.weights == codegen::WeightsMode::Reference)
    result.push_back("--weights=reference");
  if (options.weights == codegen::WeightsMode::None)
    result.push_back("--weights=none");
  if (options.ungroupedNorm)
    result.push_back("--ungrouped-norm");
  if (!options.pipeline.forceForm.empty())
    result.push_back("--force-form=" + options.pipeline.forceForm);
  if (!options.pipeline.bitStable)
    result.push_back("--bit-stable=false");
  if (!options.tokenizer)
    result.push_back("--no-tokenizer");
  if (options.stripIr)
    result.push_back("--strip-ir");
  return result;
}

llvm::Error Compilation::writeArtifact() {
  codegen::Contents contents;
  contents.module = *model.module;
  contents.seqBytecode = std::move(seqBytecode);
  if (model.tokenizer)
    contents.tokenizer = std::move(*model.tokenizer);
  contents.generation.bos = model.generation.bos.value_or(-1);
  contents.generation.pad = model.generation.pad.value_or(-1);
  contents.generation.eos = model.generation.eos;
  contents.generation.doSample = model.generation.doSample;
  contents.generation.temperature =
      static_cast<float>(model.generation.temperature);
  contents.generation.topK = model.generation.topK;
  contents.generation.topP = static_cast<float>(model.generation.topP);
  contents.compiler = ("effc " + getVersion()).str();
  contents.commit = getCommit().str();
  contents.llvmVersion = LLVM_VERSION_STRING;
  contents.options = canonicalOptions();
  for (const frontend::SourceFile &source : model.sources)
    contents.sources.push_back({source.name, source.size, source.checksum});
  contents.weights = options.weights;
  if (!model.checkpoint && options.weights != codegen::WeightsMode::None)
    return llvm::createStringError(
        "the model has no weights; name their directory with --weights-from");
  if (options.weights == codegen::WeightsMode::Reference)
    if (llvm::Error error = listWeightFiles(contents.weightFiles))
      return error;
  auto reader = [&](StringRef source) -> llvm::Expected<codegen::SourceTensor> {
    llvm::Expected<frontend::TensorData> data =
        model.checkpoint->getData(source);
    if (!data)
      return data.takeError();
    const frontend::CheckpointTensor *place = model.checkpoint->find(source);
    codegen::SourceTensor tensor{
        codegen::SourceTensor::Type::F32, data->shape, data->bytes,
        static_cast<uint32_t>(llvm::find_if(model.checkpoint->getFiles(),
                                            [&](const auto &file) {
                                              return file.get() == place->file;
                                            }) -
                              model.checkpoint->getFiles().begin()),
        place->file->getOffset(*place->entry)};
    switch (data->type) {
    case frontend::ElementType::F32:
      return tensor;
    case frontend::ElementType::BF16:
      tensor.type = codegen::SourceTensor::Type::BF16;
      return tensor;
    case frontend::ElementType::F16:
      tensor.type = codegen::SourceTensor::Type::F16;
      return tensor;
    default:
      return llvm::createStringError("tensor '" + source +
                                     "' is neither F32, BF16 nor F16");
    }
  };
  return codegen::writeArtifact(
      options.output, contents, reader, events.weights,
      [&] {
        return model.checkpoint ? model.checkpoint->checkUnchanged()
                                : llvm::Error::success();
      },
      events.remark);
}

// The names lead from the folder of the artifact to that of the checkpoint,
// both without symbolic links, so that they hold wherever the two are moved
// together.
llvm::Error
Compilation::listWeightFiles(std::vector<codegen::WeightFile> &files) const {
  SmallString<128> folder(llvm::sys::path::parent_path(options.output));
  SmallString<128> from, to;
  std::error_code code =
      llvm::sys::fs::real_path(folder.empty() ? "." : StringRef(folder), from);
  if (!code)
    code = llvm::sys::fs::real_path(model.checkpoint->getDirectory(), to);
  if (code)
    return llvm::createStringError(
        "cannot find the way from " + options.output + " to " +
        model.checkpoint->getDirectory() + ": " + code.message());
  std::filesystem::path way =
      std::filesystem::path(to.str().str())
          .lexically_relative(std::filesystem::path(from.str().str()));
  for (const auto &file : model.checkpoint->getFiles()) {
    const frontend::MappedFile &mapped = file->getFile();
    llvm::Expected<ArrayRef<uint8_t>> start =
        mapped.view(0, file->getBufferOffset());
    if (!start)
      return start.takeError();
    std::string name = (way / mapped.getName()).lexically_normal().string();
    files.push_back({name, mapped.size(), *start});
  }
  return llvm::Error::success();
}

// An output that is one of the model's own files would destroy it.
llvm::Error Compilation::checkOutput() const {
  SmallString<128> folder(options.model);
  if (!llvm::sys::fs::is_directory(options.model))
    folder = options.weightsFrom;
  for (const frontend::SourceFile &source : model.sources) {
    SmallString<128> path(folder);
    llvm::sys::path::append(path, source.name);
    if (llvm::sys::fs::equivalent(path, options.output))
      return llvm::createStringError("cannot write " + options.output +
                                     ": it is a file of the model");
  }
  return llvm::Error::success();
}

llvm::Error Compilation::run() {
  if (llvm::Error error = import())
    return error;
  if (llvm::Error error = checkOutput())
    return error;
  model.module->getOperation()->setAttr(
      "tile.target", getTargetAttr(*options.target, &context));
  for (const PhaseInfo &info : kPhases) {
    if (info.phase == Phase::Artifact)
      return writeArtifact();
    if (llvm::Error error = runPhase(info.phase))
      return error;
    if (llvm::Error error = dump(info.phase))
      return error;
    if (info.phase == options.compileTo)
      return printModule();
  }
  return llvm::Error::success();
}

} // namespace

llvm::Error effc::compile(const CompileOptions &options,
                          const CompileEvents &events) {
  return Compilation(options, events).run();
}
