#include "frontend/checkpoint/Checkpoint.h"

#include "frontend/checkpoint/Json.h"
#include "frontend/checkpoint/NearestName.h"
#include "frontend/checkpoint/Refusal.h"
#include "frontend/checkpoint/ShardIndex.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cmath>

using namespace effc::frontend;

static constexpr llvm::StringLiteral kWeightsFile = "model.safetensors";
static constexpr llvm::StringLiteral kIndexFile =
    "model.safetensors.index.json";

static bool isThere(const std::string &path) {
  return llvm::sys::fs::exists(path) || llvm::sys::fs::is_symlink_file(path);
}

/// Why files with an ending are not read, and what their owner can do.
static std::string explainRefusal(llvm::StringRef file) {
  struct Kind {
    llvm::StringLiteral ending, reason;
  };
  constexpr llvm::StringLiteral kPickle =
      "a Python pickle, which can run code when it is read: convert it to "
      "safetensors (tools/convert_pickle.py)";
  constexpr Kind kKinds[] = {
      {".bin", kPickle},
      {".pt", kPickle},
      {".pth", kPickle},
      {".ckpt", kPickle},
      {".gguf", "a GGUF file, which has all of a model: name the file itself "
                "in the place of the directory"},
      {".h5", "weights for TensorFlow: have transformers write safetensors"},
      {".msgpack", "weights for Flax: have transformers write safetensors"},
      {".onnx", "an ONNX graph: take the checkpoint that it was exported from"},
      {".safetensors", "but no 'model.safetensors.index.json' that names it: "
                       "the download may not be complete, or the file is to "
                       "be called 'model.safetensors'"}};
  for (const Kind &kind : kKinds)
    if (file.ends_with(kind.ending))
      return kind.reason.str();
  return "which is not read";
}

/// The model that an adapter is for, as its configuration says: " of 'x'".
static std::string nameBase(const std::string &path) {
  auto config = readJsonObject(path, "adapter_config.json");
  if (!config) {
    llvm::consumeError(config.takeError());
    return "";
  }
  const JsonValue *base = config->getObject()->find("base_model_name_or_path");
  return base && base->getString() ? " of " + quote(*base->getString()) : "";
}

/// Refuses a directory that holds what is added to another model's weights, and
/// not these. `besideWeights`: there are weights, too; the public library adds
/// an adapter to them where its configuration is there, and else reads past it.
static llvm::Error refuseAdapter(const Checkpoint &checkpoint,
                                 bool besideWeights) {
  if (besideWeights && !isThere(checkpoint.getPath("adapter_config.json")))
    return llvm::Error::success();
  for (llvm::StringRef file :
       {"adapter_model.safetensors", "adapter_model.bin"}) {
    if (!isThere(checkpoint.getPath(file)))
      continue;
    return refuse(
        quote(checkpoint.getDirectory()) + " holds an adapter" +
        nameBase(checkpoint.getPath("adapter_config.json")) + " (" +
        quote(file) +
        "), which is added to the weights of a model: merge them first (peft: "
        "merge_and_unload, then save_pretrained)");
  }
  return llvm::Error::success();
}

/// The names of the directory's files that their maker may take for weights,
/// sorted.
static std::vector<std::string> listWeightFiles(llvm::StringRef directory) {
  constexpr llvm::StringLiteral kWeightEndings[] = {
      ".safetensors", ".bin",     ".pt", ".pth", ".ckpt",
      ".gguf",        ".msgpack", ".h5", ".onnx"};
  std::vector<std::string> found;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator at(directory, error), end;
       !error && at != end; at.increment(error)) {
    llvm::StringRef file = llvm::sys::path::filename(at->path());
    if (llvm::any_of(kWeightEndings, [&](llvm::StringRef ending) {
          return file.ends_with(ending);
        }))
      found.push_back(file.str());
  }
  llvm::sort(found);
  return found;
}

llvm::Expected<std::unique_ptr<Checkpoint>>
Checkpoint::open(llvm::StringRef directory, WeightsNeeded needed) {
  llvm::sys::fs::file_status status;
  if (std::error_code error = llvm::sys::fs::status(directory, status))
    return refuse("cannot open " + quote(directory) + ": " +
                  llvm::StringRef(error.message()).lower());
  if (!llvm::sys::fs::is_directory(status))
    return refuse("expects " + quote(directory) +
                  " to be a checkpoint's directory, but got a file");
  std::unique_ptr<Checkpoint> checkpoint(new Checkpoint());
  checkpoint->directory = directory.str();
  bool whole = isThere(checkpoint->getPath(kWeightsFile));
  bool shards = isThere(checkpoint->getPath(kIndexFile));
  if (needed == WeightsNeeded::Yes)
    if (llvm::Error error = refuseAdapter(*checkpoint, whole || shards))
      return error;
  if (whole && shards)
    return refuse("expects one of " + quote(kWeightsFile) + " and " +
                  quote(kIndexFile) + " in " + quote(directory) +
                  ", but found both");
  if (!whole && !shards) {
    std::vector<std::string> found = listWeightFiles(directory);
    if (needed == WeightsNeeded::ShapesOnly) {
      checkpoint->listName = kWeightsFile.str();
      checkpoint->leftAsideFiles = std::move(found);
      return checkpoint;
    }
    std::string expected = "expects " + quote(kWeightsFile) + " in " +
                           quote(directory) + ", but found ";
    if (found.empty() && isThere(checkpoint->getPath("snapshots")))
      return refuse(expected + "a cache of a hub: name the folder in "
                               "'snapshots' that has 'config.json'");
    if (found.empty())
      return refuse(expected + "no weights");
    if (isThere(checkpoint->getPath("params.json")))
      return refuse(expected + quote(found.front()) +
                    " beside 'params.json', the layout of the model's makers: "
                    "take the checkpoint in the layout of the transformers "
                    "library, which has a config.json");
    return refuse(expected + quote(found.front()) + ", " +
                  explainRefusal(found.front()));
  }
  if (isThere(checkpoint->getPath("adapter_config.json")))
    checkpoint->remarks.push_back(
        "'adapter_config.json' is left aside: there are no weights of an "
        "adapter");
  checkpoint->listName = whole ? kWeightsFile.str() : kIndexFile.str();
  if (llvm::Error error =
          whole ? checkpoint->openFile(kWeightsFile) : checkpoint->openShards())
    return error;
  checkpoint->listTensors();
  return checkpoint;
}

std::unique_ptr<Checkpoint>
Checkpoint::of(llvm::StringRef directory,
               std::vector<std::unique_ptr<TensorFile>> files) {
  std::unique_ptr<Checkpoint> checkpoint(new Checkpoint());
  checkpoint->directory = directory.str();
  checkpoint->listName = files.front()->getFile().getName();
  checkpoint->files = std::move(files);
  checkpoint->listTensors();
  return checkpoint;
}

llvm::Error Checkpoint::openFile(llvm::StringRef name) {
  auto file = TensorFile::open(getPath(name), name);
  if (!file)
    return file.takeError();
  files.push_back(std::move(*file));
  return llvm::Error::success();
}

/// (IX6) and the part of (IX7) that needs the map.
llvm::Error Checkpoint::openShards() {
  auto text =
      readTextFile(getPath(kIndexFile), kIndexFile, ShardIndex::kMostBytes);
  if (!text)
    return text.takeError();
  auto index = parseShardIndex(*text, kIndexFile);
  if (!index)
    return index.takeError();
  for (const std::string &key : index->unknownKeys)
    remarks.push_back(quote(kIndexFile) + ": the unknown key " + quote(key) +
                      " is left aside");
  for (const std::string &file : index->files)
    if (llvm::Error error = openFile(file))
      return error;
  for (const auto &[tensor, file] : index->tensors)
    if (!files[file]->find(tensor))
      return refuse(index->files[file] + ": lacks tensor " + quote(tensor) +
                    ", which " + quote(kIndexFile) + " says it has");
  for (const auto &[number, file] : llvm::enumerate(files))
    for (const TensorEntry &entry : file->getEntries()) {
      const uint32_t *listed = index->find(entry.name);
      if (!listed)
        return refuse(index->files[number] + ": has tensor " +
                      quote(entry.name) + ", which " + quote(kIndexFile) +
                      " does not list");
      if (*listed != number)
        return refuse("tensor " + quote(entry.name) + " is in " +
                      quote(index->files[number]) + " and in " +
                      quote(index->files[*listed]));
    }
  return llvm::Error::success();
}

void Checkpoint::replaceTensors(std::vector<std::vector<TensorEntry>> entries) {
  for (auto [file, own] : llvm::zip_equal(files, entries)) {
    uint64_t offset = file->getDataOffset();
    file = std::make_unique<TensorFile>(file->takeFile(),
                                        TensorTable{std::move(own), offset});
  }
  listTensors();
}

void Checkpoint::listTensors() {
  tensors.clear();
  for (const auto &[number, file] : llvm::enumerate(files))
    for (const TensorEntry &entry : file->getEntries())
      tensors.push_back({&entry, file.get(), uint32_t(number)});
  llvm::sort(tensors, [](const auto &a, const auto &b) {
    return a.entry->name < b.entry->name;
  });
}

std::string Checkpoint::getPath(llvm::StringRef file) const {
  llvm::SmallString<256> path(directory);
  llvm::sys::path::append(path, file);
  return path.str().str();
}

std::vector<std::string> Checkpoint::getFileNames() const {
  std::vector<std::string> names;
  if (hasWeights())
    names.push_back(listName);
  for (const auto &file : files)
    if (file->getFile().getName() != listName)
      names.push_back(file->getFile().getName());
  llvm::sort(names);
  return names;
}

const CheckpointTensor *Checkpoint::find(llvm::StringRef name) const {
  auto at = llvm::lower_bound(
      tensors, name, [](const CheckpointTensor &tensor, llvm::StringRef name) {
        return llvm::StringRef(tensor.entry->name) < name;
      });
  return at != tensors.end() && at->entry->name == name ? &*at : nullptr;
}

// Another layer's tensor is no misspelling.
static bool differInNumbersAlone(llvm::StringRef a, llvm::StringRef b) {
  auto lettersOf = [](llvm::StringRef name) {
    std::string letters;
    for (char c : name)
      if (!llvm::isDigit(c))
        letters += c;
    return letters;
  };
  return lettersOf(a) == lettersOf(b);
}

// The tensor that at most two changed letters, and a quarter of all, make of
// `name`, or "".
llvm::StringRef Checkpoint::nearestTo(llvm::StringRef name) const {
  NearestName nearest(name, std::min<size_t>(2, name.size() / 4));
  for (const CheckpointTensor &tensor : tensors)
    nearest.consider(tensor.entry->name, [&] {
      return !differInNumbersAlone(tensor.entry->name, name);
    });
  return nearest.get();
}

llvm::Expected<CheckpointTensor> Checkpoint::get(llvm::StringRef name) const {
  if (const CheckpointTensor *tensor = find(name))
    return *tensor;
  llvm::StringRef meant = nearestTo(name);
  return refuse(listName + ": lacks tensor " + quote(name) +
                (meant.empty() ? "" : "; it has " + quote(meant)));
}

std::vector<llvm::StringRef> Checkpoint::getUnread() const {
  std::vector<llvm::StringRef> unread;
  for (const auto &file : files)
    for (const TensorEntry &entry : file->getEntries())
      if (!read.contains(entry.name))
        unread.push_back(entry.name);
  return unread;
}

llvm::Error Checkpoint::checkAllRead() const {
  std::vector<llvm::StringRef> unread = getUnread();
  if (unread.empty())
    return llvm::Error::success();
  std::string others;
  if (unread.size() > 1)
    others = " (and " + std::to_string(unread.size() - 1) + " more)";
  return refuse(find(unread.front())->file->getFile().getName() + ": tensor " +
                quote(unread.front()) + others + " has no place in the model");
}

llvm::Error Checkpoint::checkUnchanged() const {
  for (const auto &file : files)
    if (llvm::Error error = file->getFile().checkUnchanged())
      return error;
  return llvm::Error::success();
}

/// The rows in the tensor's order.
static std::vector<uint8_t> undoTurn(const TensorEntry &entry,
                                     llvm::ArrayRef<uint8_t> bytes) {
  auto [outer, inner] = entry.turned;
  uint64_t row = bytes.size() / entry.shape.front(), group = outer * inner;
  std::vector<uint8_t> made(bytes.size());
  for (uint64_t to = 0; to < entry.shape.front(); ++to) {
    uint64_t within = to % group;
    uint64_t from = to - within + within % outer * inner + within / outer;
    llvm::copy(bytes.slice(from * row, row), made.begin() + to * row);
  }
  return made;
}

/// (NumberRule::LogOfNegated, NumberRule::Log) as bytes of F32.
static llvm::Expected<std::vector<uint8_t>>
logarithmsOf(const CheckpointTensor &tensor, llvm::ArrayRef<uint8_t> bytes) {
  const TensorEntry &entry = *tensor.entry;
  bool isNegated = entry.numbers == NumberRule::LogOfNegated;
  auto fail = [&](const llvm::Twine &found) {
    return refuse(tensor.file->getFile().getName() + ": expects tensor " +
                  quote(entry.name) + found);
  };
  if (entry.type.isBlocks() || !isDecodable(entry.type.getElement()))
    return fail(" of F32, F16 or BF16, but got " + entry.type.getName());
  std::vector<uint8_t> made;
  for (double number : decode<double>(entry.type.getElement(), bytes)) {
    double size = isNegated ? -number : number;
    if (!(size > 0) || std::isinf(size))
      return fail(llvm::Twine(" to have finite numbers ") +
                  (isNegated ? "below" : "above") + " 0, but got " +
                  std::to_string(number));
    auto bits = llvm::bit_cast<uint32_t>(float(std::log(size)));
    for (int shift = 0; shift < 32; shift += 8)
      made.push_back(uint8_t(bits >> shift));
  }
  return made;
}

llvm::Expected<std::vector<uint8_t>>
Checkpoint::makeOfParts(const TensorMaker &maker) const {
  std::vector<llvm::ArrayRef<uint8_t>> parts;
  for (const TensorMaker::Part &part : maker.getParts()) {
    auto bytes = files[part.file]->view(part.entry);
    if (!bytes)
      return bytes.takeError();
    parts.push_back(*bytes);
  }
  return maker.make(parts);
}

/// Fills in bytes that no file has.
llvm::Error Checkpoint::makeData(const CheckpointTensor &tensor,
                                 TensorData &data) const {
  std::vector<uint8_t> made;
  if (tensor.entry->maker) {
    auto bytes = makeOfParts(*tensor.entry->maker);
    if (!bytes)
      return bytes.takeError();
    made = std::move(*bytes);
  } else if (tensor.entry->numbers != NumberRule::AsStored) {
    auto numbers = logarithmsOf(tensor, data.bytes);
    if (!numbers)
      return numbers.takeError();
    made = std::move(*numbers);
    data.type = ElementType::F32;
  } else {
    made = undoTurn(*tensor.entry, data.bytes);
  }
  data.made = std::make_shared<const std::vector<uint8_t>>(std::move(made));
  data.bytes = *data.made;
  return llvm::Error::success();
}

llvm::Expected<TensorData> Checkpoint::getData(llvm::StringRef name) const {
  auto tensor = get(name);
  if (!tensor)
    return tensor.takeError();
  auto bytes = tensor->file->view(*tensor->entry);
  if (!bytes)
    return bytes.takeError();
  TensorData data{tensor->entry->type, tensor->entry->shape, *bytes,
                  tensor->fileNumber, tensor->file->getOffset(*tensor->entry)};
  if (tensor->entry->isMade())
    if (llvm::Error error = makeData(*tensor, data))
      return error;
  return data;
}

llvm::Expected<bool> Checkpoint::areEqual(llvm::StringRef a,
                                          llvm::StringRef b) const {
  auto first = getData(a);
  if (!first)
    return first.takeError();
  auto second = getData(b);
  if (!second)
    return second.takeError();
  return first->type == second->type && first->shape == second->shape &&
         first->bytes == second->bytes;
}
