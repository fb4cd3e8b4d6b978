#include "tools/effc/SafetensorsWriter.h"

#include "tools/terminal/Failure.h"

#include <bit>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unistd.h>
#include <utility>

using namespace effc::cli;

static_assert(std::endian::native == std::endian::little,
              "f32 is written as it lies");

uint64_t SafetensorsWriter::Tensor::columns() const {
  uint64_t count = 1;
  for (uint64_t extent : shape)
    count *= extent;
  return count;
}

void SafetensorsWriter::fail(int code) {
  abandon();
  throw Failure("cannot write '" + path + "': " +
                (code == rt::PartialFile::kNotRegular
                     ? "it is not a regular file"
                     : std::strerror(code)));
}

SafetensorsWriter::SafetensorsWriter(std::string name,
                                     std::vector<Tensor> given)
    : path(std::move(name)), tensors(std::move(given)) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  uint64_t end = 0;
  for (const Tensor &tensor : tensors) {
    uint64_t begin = end;
    end += tensor.rows * tensor.columns() * sizeof(float);
    offsets.push_back(begin);
    std::vector<uint64_t> shape = {tensor.rows};
    shape.insert(shape.end(), tensor.shape.begin(), tensor.shape.end());
    header[tensor.name] = {{"dtype", "F32"},
                           {"shape", std::move(shape)},
                           {"data_offsets", {begin, end}}};
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' '); // the data is aligned
  uint64_t size = text.size();
  for (uint64_t &offset : offsets)
    offset += sizeof size + size;

  if (int code = file.begin(path))
    fail(code);
  removal.emplace(file.name());
  writeAt(0, &size, sizeof size);
  writeAt(sizeof size, text.data(), size);
  if (ftruncate(file.descriptor(),
                static_cast<off_t>(sizeof size + size + end)) != 0)
    fail(errno);
}

SafetensorsWriter::~SafetensorsWriter() { abandon(); }

void SafetensorsWriter::abandon() {
  file.abandon();
  removal.reset();
}

void SafetensorsWriter::writeAt(uint64_t offset, const void *bytes,
                                uint64_t size) {
  const char *at = static_cast<const char *>(bytes);
  while (size > 0) {
    ssize_t count =
        pwrite(file.descriptor(), at, size, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      fail(errno);
    at += count;
    offset += static_cast<uint64_t>(count);
    size -= static_cast<uint64_t>(count);
  }
}

void SafetensorsWriter::write(size_t index, uint64_t firstRow,
                              const float *rows, uint64_t count) {
  uint64_t rowBytes = tensors[index].columns() * sizeof(float);
  writeAt(offsets[index] + firstRow * rowBytes, rows, count * rowBytes);
}

void SafetensorsWriter::finish() {
  if (int code = file.finish(/*durable=*/true))
    fail(code);
  removal.reset();
}
