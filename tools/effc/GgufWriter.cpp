#include "tools/effc/GgufWriter.h"

#include "tools/terminal/Failure.h"

#include <bit>
#include <cerrno>
#include <cstring>
#include <unistd.h>

using namespace effc::cli;

static_assert(std::endian::native == std::endian::little,
              "numbers are written as they lie");

namespace {
constexpr size_t kAlignment = 32;
// Types of values and of tensors.
constexpr uint32_t kU32 = 4, kString = 8, kArray = 9, kF32 = 0;

template <typename T> void append(std::string &bytes, T number) {
  bytes.append(reinterpret_cast<const char *>(&number), sizeof number);
}

void appendText(std::string &bytes, const std::string &text) {
  append(bytes, uint64_t(text.size()));
  bytes += text;
}

void align(std::string &bytes) {
  bytes.append((kAlignment - bytes.size() % kAlignment) % kAlignment, '\0');
}
} // namespace

GgufWriter::GgufWriter(const std::string &given) : path(given) {
  check(file.begin(path));
  removal.emplace(file.name());
}

void GgufWriter::check(int code) const {
  if (code != 0)
    throw Failure("cannot write '" + path + "': " +
                  (code == rt::PartialFile::kNotRegular
                       ? "it is not a regular file"
                       : std::strerror(code)));
}

void GgufWriter::text(const std::string &key, const std::string &value) {
  appendText(keys, key);
  append(keys, kString);
  appendText(keys, value);
  ++keyCount;
}

void GgufWriter::texts(const std::string &key,
                       const std::vector<std::string> &values) {
  appendText(keys, key);
  append(keys, kArray);
  append(keys, kString);
  append(keys, uint64_t(values.size()));
  for (const std::string &value : values)
    appendText(keys, value);
  ++keyCount;
}

void GgufWriter::number(const std::string &key, uint32_t value) {
  appendText(keys, key);
  append(keys, kU32);
  append(keys, value);
  ++keyCount;
}

void GgufWriter::floats(const std::string &name,
                        const std::vector<uint64_t> &shape,
                        const std::vector<float> &numbers) {
  if (name.size() > kMostNameBytes)
    throw Failure("a GGUF file takes names of at most " +
                  std::to_string(kMostNameBytes) + " bytes, but got '" + name +
                  "'");
  appendText(tensors, name);
  append(tensors, uint32_t(shape.size()));
  for (size_t i = shape.size(); i-- > 0;)
    append(tensors, shape[i]);
  append(tensors, kF32);
  append(tensors, uint64_t(data.size()));
  data.append(reinterpret_cast<const char *>(numbers.data()),
              numbers.size() * sizeof(float));
  align(data);
  ++tensorCount;
}

void GgufWriter::finish() {
  std::string bytes = "GGUF";
  append(bytes, uint32_t(3));
  append(bytes, tensorCount);
  append(bytes, keyCount);
  bytes += keys + tensors;
  align(bytes);
  bytes += data;
  for (size_t at = 0; at < bytes.size();) {
    ssize_t count =
        ::write(file.descriptor(), bytes.data() + at, bytes.size() - at);
    if (count < 0 && errno != EINTR) {
      int code = errno;
      file.abandon();
      check(code);
    }
    at += count < 0 ? 0 : size_t(count);
  }
  check(file.finish(/*durable=*/true));
}
