#include "studies/ranks/run_message.h"

#include <cstring>
#include <type_traits>

#include "core/errors.h"

namespace modlab::studies {
namespace {

template <typename Number>
void put(std::string& bytes, Number number) {
  static_assert(std::is_trivially_copyable_v<Number>);
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

void put_text(std::string& bytes, std::string_view text) {
  put(bytes, static_cast<std::uint64_t>(text.size()));
  bytes.append(text);
}

class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : rest_(bytes) {}

  template <typename Number>
  Number number() {
    Number value;
    std::memcpy(&value, take(sizeof(value)).data(), sizeof(value));
    return value;
  }
  std::string_view text() { return take(number<std::uint64_t>()); }
  // Of things that take some bytes each.
  std::uint64_t count() {
    const auto count = number<std::uint64_t>();
    if (count > rest_.size()) {
      fail();
    }
    return count;
  }
  void end() const {
    if (!rest_.empty()) {
      fail();
    }
  }

 private:
  [[noreturn]] static void fail() { throw FormatError("a message of another rank is damaged; start the job again"); }
  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) {
      fail();
    }
    const std::string_view part = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return part;
  }

  std::string_view rest_;
};

}  // namespace

std::string encode_numbers(std::span<const std::uint64_t> runs) {
  std::string bytes;
  put(bytes, static_cast<std::uint64_t>(runs.size()));
  for (const std::uint64_t run : runs) {
    put(bytes, run);
  }
  return bytes;
}

std::vector<std::uint64_t> decode_numbers(std::string_view bytes) {
  MessageReader reader(bytes);
  std::vector<std::uint64_t> runs;
  for (std::uint64_t left = reader.count(); left > 0; --left) {
    runs.push_back(reader.number<std::uint64_t>());
  }
  reader.end();
  return runs;
}

std::string encode_finished(std::span<const experiments::FinishedRun> runs) {
  std::string bytes;
  put(bytes, static_cast<std::uint64_t>(runs.size()));
  for (const experiments::FinishedRun& run : runs) {
    put(bytes, run.run->number);
    put(bytes, static_cast<char>(run.result.diverged));
    put(bytes, run.result.seconds);
    put(bytes, static_cast<std::uint64_t>(run.result.snapshots.size()));
    for (const auto& [snapshot, numbers] : run.result.snapshots) {
      put_text(bytes, snapshot);
      put(bytes, static_cast<std::uint64_t>(numbers.size()));
      for (const auto& [measure, value] : numbers) {
        put_text(bytes, measure);
        put(bytes, value);
      }
    }
    put(bytes, static_cast<std::uint64_t>(run.result.blobs.size()));
    for (const auto& [name, blob] : run.result.blobs) {
      put_text(bytes, name);
      put_text(bytes, blob);
    }
  }
  return bytes;
}

std::vector<experiments::FinishedRun> decode_finished(std::string_view bytes, const FindRun& find) {
  MessageReader reader(bytes);
  std::vector<experiments::FinishedRun> runs;
  for (std::uint64_t left = reader.count(); left > 0; --left) {
    experiments::FinishedRun& run = runs.emplace_back();
    run.run = find(reader.number<std::uint64_t>());
    if (run.run == nullptr) {
      throw FormatError("another rank has carried out a run that was not asked for; are all of one version?");
    }
    run.result.diverged = reader.number<char>() != 0;
    run.result.seconds = reader.number<double>();
    for (std::uint64_t snapshots = reader.count(); snapshots > 0; --snapshots) {
      experiments::Numbers& numbers = run.result.snapshots[std::string(reader.text())];
      for (std::uint64_t measures = reader.count(); measures > 0; --measures) {
        const std::string measure(reader.text());
        numbers[measure] = reader.number<double>();
      }
    }
    for (std::uint64_t blobs = reader.count(); blobs > 0; --blobs) {
      const std::string name(reader.text());
      run.result.blobs[name] = reader.text();
    }
  }
  reader.end();
  return runs;
}

}  // namespace modlab::studies
