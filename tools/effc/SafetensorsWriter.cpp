#include "tools/effc/SafetensorsWriter.h"

#include "tools/terminal/Failure.h"

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <unistd.h>
#include <utility>

using namespace effc::cli;

static_assert(std::endian::native == std::endian::little,
              "f32 is written as it lies");

void SafetensorsWriter::fail(const char *what) {
  int failure = errno;
  abandon();
  errno = failure;
  throw Failure(std::string("cannot ") + what + " '" + path +
                "': " + std::strerror(errno));
}

SafetensorsWriter::SafetensorsWriter(std::string name,
                                     std::vector<Tensor> given)
    : path(std::move(name)), tensors(std::move(given)) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  uint64_t end = 0;
  for (const Tensor &tensor : tensors) {
    uint64_t begin = end;
    end += tensor.rows * tensor.columns * sizeof(float);
    offsets.push_back(begin);
    header[tensor.name] = {{"dtype", "F32"},
                           {"shape", {tensor.rows, tensor.columns}},
                           {"data_offsets", {begin, end}}};
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' '); // the data is aligned
  uint64_t size = text.size();
  for (uint64_t &offset : offsets)
    offset += sizeof size + size;

  // A name of another file means that file; a device or a pipe cannot be
  // replaced by a finished file.
  if (std::filesystem::exists(path)) {
    if (!std::filesystem::is_regular_file(path))
      throw Failure("cannot write '" + path + "': it is not a regular file");
    path = std::filesystem::canonical(path);
  }
  // What a killed process of the same number left behind is stepped over.
  int attempt = 0;
  do
    temporary = path + "." + std::to_string(getpid()) + "-" +
                std::to_string(attempt++) + ".partial";
  while (std::filesystem::exists(temporary));
  removal.emplace(temporary); // before there is anything to remove
  descriptor =
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0)
    fail("write");
  writeAt(0, &size, sizeof size);
  writeAt(sizeof size, text.data(), size);
  if (ftruncate(descriptor, static_cast<off_t>(sizeof size + size + end)) != 0)
    fail("write");
}

SafetensorsWriter::~SafetensorsWriter() { abandon(); }

void SafetensorsWriter::abandon() {
  if (descriptor < 0)
    return;
  close(std::exchange(descriptor, -1));
  unlink(temporary.c_str());
  removal.reset();
}

void SafetensorsWriter::writeAt(uint64_t offset, const void *bytes,
                                uint64_t size) {
  const char *at = static_cast<const char *>(bytes);
  while (size > 0) {
    ssize_t count = pwrite(descriptor, at, size, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      fail("write");
    at += count;
    offset += static_cast<uint64_t>(count);
    size -= static_cast<uint64_t>(count);
  }
}

void SafetensorsWriter::write(size_t index, uint64_t firstRow,
                              const float *rows, uint64_t count) {
  uint64_t rowBytes = tensors[index].columns * sizeof(float);
  writeAt(offsets[index] + firstRow * rowBytes, rows, count * rowBytes);
}

void SafetensorsWriter::finish() {
  // Before the last close, so that a failing disk is noticed in time.
  if (fsync(descriptor) != 0 && errno != EINVAL && errno != EROFS)
    fail("write");
  if (std::rename(temporary.c_str(), path.c_str()) != 0)
    fail("write");
  removal.reset();
  close(std::exchange(descriptor, -1));
}
