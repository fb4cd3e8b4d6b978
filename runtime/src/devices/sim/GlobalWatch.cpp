#include "runtime/src/devices/sim/GlobalWatch.h"

using namespace effc;
using namespace effc::rt;

void GlobalWatch::beginBlock() {
  words.clear();
  epoch = 1;
}

Fault GlobalWatch::touch(uintptr_t address, uint32_t bytes, uint32_t thread,
                         bool write) {
  uint64_t end = (address + bytes + 1) / 2;
  for (uint64_t number = address / 2; number < end; ++number) {
    Pair &pair = words.at(number / 2).pairs[number % 2];
    if (pair.wroteAt == epoch && pair.writer != thread) [[unlikely]]
      return say("a race: thread ", pair.writer,
                 " has written there since the last barrier");
    bool readByOthers = pair.readAt == epoch && pair.reader != thread;
    if (!write) {
      pair.readAt = epoch;
      pair.reader = readByOthers ? kSeveral : static_cast<uint16_t>(thread);
      continue;
    }
    if (readByOthers) [[unlikely]]
      return pair.reader == kSeveral
                 ? Fault("a race: several threads have read there since the "
                         "last barrier")
                 : say("a race: thread ", pair.reader,
                       " has read there since the last barrier");
    pair.wroteAt = epoch;
    pair.writer = static_cast<uint16_t>(thread);
  }
  return {};
}

void LaunchWatch::enter(uint32_t number) {
  std::lock_guard<std::mutex> lock(guard);
  if (launch == number)
    return;
  launch = number;
  words.clear();
}

void LaunchWatch::beginCall() {
  std::lock_guard<std::mutex> lock(guard);
  launch = kNone;
}

Fault LaunchWatch::add(GlobalWatch &block, uint32_t index) {
  std::lock_guard<std::mutex> lock(guard);
  Fault fault;
  auto isOther = [&](uint32_t other) {
    return other != kNone && other != index;
  };
  auto meets = [&](uint64_t number, const char *what, uint32_t other,
                   const char *did) {
    if (fault.empty())
      fault =
          say(what, reinterpret_cast<const void *>(number * 2),
              ", a race: block ", other, " of the launch has ", did, " there");
  };
  auto join = [&](uint64_t number, const GlobalWatch::Pair &mine, Pair &all) {
    if (mine.wroteAt) {
      if (isOther(all.writer))
        meets(number, "writes at ", all.writer, "written");
      else if (isOther(all.reader))
        meets(number, "writes at ", all.reader, "read");
      all.writer = index;
    }
    if (mine.readAt) {
      if (!mine.wroteAt && isOther(all.writer))
        meets(number, "reads at ", all.writer, "written");
      all.reader = index;
    }
  };
  block.words.forEachLine([&](uint64_t number, const auto &touched) {
    auto &line = words.lineAt(number);
    for (uint32_t i = 0; i < touched.size(); ++i)
      for (uint32_t half = 0; half < 2; ++half)
        join((number * touched.size() + i) * 2 + half, touched[i].pairs[half],
             line[i].pairs[half]);
  });
  return fault;
}
