#include "frontend/importance/ImportanceFile.h"

#include "frontend/checkpoint/MappedFile.h"
#include "frontend/checkpoint/Refusal.h"
#include "frontend/gguf/Header.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <cstring>
#include <map>

using namespace effc::frontend;

namespace {

/// Reads the older kind: knows where the file ends.
class Cursor {
public:
  explicit Cursor(llvm::ArrayRef<uint8_t> bytes) : rest(bytes) {}

  bool isAtEnd() const { return rest.empty(); }
  /// A number of 32 bits; none where fewer are left.
  std::optional<int32_t> readInteger() {
    std::optional<llvm::ArrayRef<uint8_t>> bytes = read(4);
    if (!bytes)
      return std::nullopt;
    return int32_t(llvm::support::endian::read32le(bytes->data()));
  }
  std::optional<llvm::ArrayRef<uint8_t>> read(uint64_t count) {
    if (count > rest.size())
      return std::nullopt;
    llvm::ArrayRef<uint8_t> taken = rest.take_front(count);
    rest = rest.drop_front(count);
    return taken;
  }
  /// A length that is 0 or more, and as many times `each` bytes.
  std::optional<llvm::ArrayRef<uint8_t>> readCounted(uint64_t each) {
    std::optional<int32_t> count = readInteger();
    if (!count || *count < 0)
      return std::nullopt;
    return read(uint64_t(*count) * each);
  }

private:
  llvm::ArrayRef<uint8_t> rest;
};

} // namespace

static std::vector<float> readFloats(llvm::ArrayRef<uint8_t> bytes) {
  std::vector<float> numbers(bytes.size() / 4);
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * 4);
  return numbers;
}

static std::string textOf(llvm::ArrayRef<uint8_t> bytes) {
  return std::string(reinterpret_cast<const char *>(bytes.data()),
                     bytes.size());
}

static std::string textOf(float number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", double(number));
  return text;
}

/// (IM6) and (IM7)
llvm::Error ImportanceFile::add(llvm::StringRef matrix, Numbers numbers) {
  if (matrix.empty())
    return refuse(name + ": has a matrix without a name");
  for (float number : numbers)
    if (!std::isfinite(number) || number < 0)
      return refuse(name + ": expects finite numbers from 0 on for " +
                    quote(matrix) + ", but got " + textOf(number));
  if (!byName.try_emplace(matrix, std::move(numbers)).second)
    return refuse(name + ": has " + quote(matrix) + " twice");
  return llvm::Error::success();
}

/// (IM1) to (IM3)
llvm::Error ImportanceFile::parseGguf(llvm::ArrayRef<uint8_t> bytes) {
  auto header = parseGgufHeader(bytes, name);
  if (!header)
    return header.takeError();
  const std::string *kind = header->metadata.getString("general.type");
  if (llvm::Error error = header->metadata.getProblem())
    return error;
  if (kind && *kind != "imatrix")
    return refuse(
        name + ": expects 'general.type' to be \"imatrix\", but got " +
        quote(*kind, '"') + ": expects what llama-imatrix writes, not a model");
  struct Pair {
    const TensorEntry *sums = nullptr, *counts = nullptr;
  };
  std::map<std::string, Pair> pairs;
  for (const TensorEntry &entry : header->tensors.entries) {
    llvm::StringRef stem = entry.name;
    if (stem.consume_back(".in_sum2"))
      pairs[stem.str()].sums = &entry;
    else if (stem.consume_back(".counts"))
      pairs[stem.str()].counts = &entry;
    else
      return refuse(name + ": tensor " + quote(entry.name) +
                    " is neither 'NAME.in_sum2' nor 'NAME.counts': expects "
                    "what llama-imatrix writes");
  }
  auto readEntry = [&](const TensorEntry &entry) {
    return readFloats(bytes.slice(header->tensors.dataOffset + entry.begin,
                                  entry.end - entry.begin));
  };
  for (const auto &[matrix, pair] : pairs) {
    for (auto [entry, ending] :
         {std::pair{pair.sums, ".in_sum2"}, {pair.counts, ".counts"}}) {
      if (!entry)
        return refuse(name + ": has no " + quote(matrix + ending) +
                      " beside the other tensor of that matrix");
      if (!(entry->type == ElementType::F32))
        return refuse(name + ": expects " + quote(entry->name) +
                      " to be F32, but got " + entry->type.getName());
    }
    Numbers sums = readEntry(*pair.sums), counts = readEntry(*pair.counts);
    if (sums.size() / pair.sums->shape.back() != counts.size())
      return refuse(name + ": expects " + quote(pair.counts->name) +
                    " to have a number for each row of " +
                    quote(pair.sums->name) + ", " +
                    describeShape(pair.sums->shape) + ", but got " +
                    describeShape(pair.counts->shape));
    uint64_t columns = sums.size() / counts.size();
    for (const auto &[row, count] : llvm::enumerate(counts)) {
      if (!std::isfinite(count) || count < 0)
        return refuse(name + ": expects counts from 0 on in " +
                      quote(pair.counts->name) + ", but got " + textOf(count));
      // Tokens are counted whole.
      float tokens = std::round(count);
      for (float &number :
           llvm::MutableArrayRef(sums).slice(row * columns, columns))
        number = tokens > 0 ? number / tokens : 1;
    }
    if (llvm::Error error = add(matrix, std::move(sums)))
      return error;
  }
  return llvm::Error::success();
}

/// (IM4) and (IM5)
llvm::Error ImportanceFile::parseOld(llvm::ArrayRef<uint8_t> bytes) {
  auto complain = [&](const llvm::Twine &what) {
    return refuse(name + ": " + what +
                  ": expects what llama-imatrix writes, a GGUF file or one of "
                  "the older kind");
  };
  Cursor cursor(bytes);
  std::optional<int32_t> entries = cursor.readInteger();
  if (!entries || *entries < 1)
    return complain("has no matrices");
  for (int32_t i = 0; i < *entries; ++i) {
    auto matrix = cursor.readCounted(1);
    if (!matrix)
      return complain("ends within the name of matrix " + llvm::Twine(i + 1) +
                      " of " + llvm::Twine(*entries));
    std::optional<int32_t> calls = cursor.readInteger();
    auto sums = cursor.readCounted(4);
    if (!calls || !sums || sums->empty())
      return complain("ends within, or has no, numbers of matrix " +
                      llvm::Twine(i + 1) + " of " + llvm::Twine(*entries));
    Numbers numbers = readFloats(*sums);
    if (*calls > 0)
      for (float &number : numbers)
        number /= float(*calls);
    if (llvm::Error error = add(textOf(*matrix), std::move(numbers)))
      return error;
  }
  if (cursor.isAtEnd())
    return llvm::Error::success();
  bool isWhole = cursor.readInteger().has_value();
  if (isWhole && !cursor.isAtEnd())
    isWhole = cursor.readCounted(1).has_value();
  if (!isWhole || !cursor.isAtEnd())
    return complain("has bytes after its last matrix that nothing stands for");
  return llvm::Error::success();
}

llvm::Expected<ImportanceFile>
ImportanceFile::parse(llvm::ArrayRef<uint8_t> bytes, llvm::StringRef name) {
  ImportanceFile file(name);
  if (llvm::Error error =
          isGguf(bytes) ? file.parseGguf(bytes) : file.parseOld(bytes))
    return std::move(error);
  if (file.size() == 0)
    return refuse(name + ": has no matrices");
  return std::move(file);
}

llvm::Expected<ImportanceFile> ImportanceFile::open(llvm::StringRef path) {
  llvm::StringRef name = llvm::sys::path::filename(path);
  auto file = MappedFile::open(path, name);
  if (!file)
    return file.takeError();
  auto bytes = (*file)->view(0, (*file)->size());
  if (!bytes)
    return bytes.takeError();
  auto parsed = parse(*bytes, name);
  // What was read is the file only if no page was missing.
  if (llvm::Error error = (*file)->checkUnchanged()) {
    if (!parsed)
      llvm::consumeError(parsed.takeError());
    return std::move(error);
  }
  return parsed;
}

const ImportanceFile::Numbers *
ImportanceFile::find(llvm::StringRef matrix) const {
  auto at = byName.find(matrix);
  return at == byName.end() ? nullptr : &at->second;
}

std::string ImportanceFile::getExample() const {
  std::string least;
  for (llvm::StringRef known : byName.keys())
    if (least.empty() || known < least)
      least = known.str();
  return least;
}
