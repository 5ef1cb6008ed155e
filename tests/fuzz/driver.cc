// Feeds an entry point with broken copies of its seeds, the same ones every time:
//   NAME_fuzz --runs N        N broken copies, after the seeds as they are
//   NAME_fuzz FILE...         these inputs instead: what an earlier run has left behind
//   NAME_fuzz --seeds FOLDER  writes the seeds, and beside them FOLDER.words, for libFuzzer to start from
// Ends with 0 if the entry point took all of them. Otherwise the input lies in NAME_fuzz.input.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cctype>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>
#include <set>

#include "core/text.h"
#include "entry.h"

namespace {

using modlab::fuzz::seeds;

constexpr std::size_t kMaxInput = std::size_t{1} << 16;
// An input of this size is read in far less, even by a sanitizer's slow code on a busy machine.
constexpr unsigned kMaxSeconds = 30;

std::string current_input;
std::string kept_path;

void keep_input() {
  // Nothing here may take memory: there may be none left.
  const int file = ::open(kept_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file >= 0 && ::write(file, current_input.data(), current_input.size()) >= 0) {
    ::close(file);
  }
}

void on_signal(int number) {
  keep_input();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

// What readers of text and of binary files look for, and numbers at the ends of their ranges.
const std::vector<std::string> kWords = {"[",
                                         "]",
                                         "{",
                                         "}",
                                         ":",
                                         ": ",
                                         ",",
                                         "\"",
                                         "'",
                                         "\n",
                                         "\n- ",
                                         "  ",
                                         "#",
                                         "!",
                                         "&a ",
                                         "*a",
                                         "..",
                                         "~",
                                         "|",
                                         ">",
                                         "?",
                                         "%",
                                         "-",
                                         "0",
                                         "1",
                                         "-1",
                                         "0..9",
                                         "1e309",
                                         "-1e-320",
                                         "nan",
                                         "inf",
                                         "true",
                                         "null",
                                         "4294967296",
                                         "2147483647",
                                         "9223372036854775807",
                                         "-9223372036854775808",
                                         "18446744073709551616",
                                         "\xff",
                                         "\xc3\xa9",
                                         "\xed\xa0\x80",
                                         std::string(1, '\0'),
                                         std::string(4, '\0'),
                                         std::string("\0\0\0\x01", 4),
                                         std::string("\x01\0\0\0", 4),
                                         std::string(4, '\xff'),
                                         std::string(8, '\xff'),
                                         std::string("\x7f\xff\xff\xff", 4)};

// The names and numbers in the seeds.
std::vector<std::string> words_of(const std::vector<std::string>& texts) {
  std::set<std::string> words;
  for (const std::string& text : texts) {
    std::string word;
    for (const char letter : text + " ") {
      if (std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '.' || letter == '-') {
        word += letter;
      } else {
        if (word.size() >= 2 && word.size() <= 24) {
          words.insert(word);
        }
        word.clear();
      }
    }
  }
  return {words.begin(), words.end()};
}

class Breaker {
 public:
  explicit Breaker(std::vector<std::string> texts) : texts_(std::move(texts)), words_(words_of(texts_)) {
    words_.insert(words_.end(), kWords.begin(), kWords.end());
  }

  std::string next() {
    std::string text = texts_[below(texts_.size())];
    for (std::size_t edit = 0, edits = 1 + below(4); edit < edits; ++edit) {
      change(text);
    }
    text.resize(std::min(text.size(), kMaxInput));
    return text;
  }

 private:
  std::size_t below(std::size_t count) { return count == 0 ? 0 : random_() % count; }

  void change(std::string& text) {
    const std::size_t at = below(text.size() + 1);
    const std::size_t rest = text.size() - at;
    // Mostly a little, so that most of the text still makes sense.
    const std::size_t some = std::min(rest, below(2) == 0 ? 1 + below(8) : below(rest + 1));
    switch (below(8)) {
      case 0:
        if (rest > 0) {
          text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        }
        break;
      case 1:
        if (rest > 0) {
          text[at] = static_cast<char>(below(256));
        }
        break;
      case 2:
        text.insert(at, words_[below(words_.size())]);
        break;
      case 3:
        replace_word(text, at);
        break;
      case 4:
        text.erase(at, some);
        break;
      case 5:
        text.insert(at, text.substr(at, some));
        break;
      case 6: {
        const std::string& other = texts_[below(texts_.size())];
        text.resize(at);
        text += other.substr(below(other.size() + 1));
        break;
      }
      default:
        if (below(4) == 0) {
          text.resize(at);
        }
    }
  }

  // The word or the number at a place becomes another one.
  void replace_word(std::string& text, std::size_t at) {
    const auto is_in_word = [&](std::size_t place) {
      return std::isalnum(static_cast<unsigned char>(text[place])) != 0 || text[place] == '_' || text[place] == '.';
    };
    while (at < text.size() && !is_in_word(at)) {
      ++at;
    }
    std::size_t begin = at;
    while (begin > 0 && is_in_word(begin - 1)) {
      --begin;
    }
    while (at < text.size() && is_in_word(at)) {
      ++at;
    }
    text.replace(begin, at - begin, words_[below(words_.size())]);
  }

  std::vector<std::string> texts_;
  std::vector<std::string> words_;
  std::mt19937 random_;
};

void feed(std::string input) {
  current_input = std::move(input);
  ::alarm(kMaxSeconds);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(current_input.data()), current_input.size());
  ::alarm(0);
}

void write_seeds(const std::string& folder) {
  std::filesystem::create_directories(folder);
  const std::vector<std::string> texts = seeds();
  for (std::size_t at = 0; at < texts.size(); ++at) {
    modlab::io::write_file(fmt::format("{}/seed{}", folder, at), texts[at]);
  }
  std::string dictionary;
  for (const std::string& word : words_of(texts)) {
    dictionary += "\"" + word + "\"\n";
  }
  modlab::io::write_file(folder + ".words", dictionary);
}

int usage(const char* program) {
  std::fprintf(stderr, "%s --runs N | --seeds FOLDER | FILE...\n", program);
  return 2;
}

}  // namespace

#ifdef MODLAB_SANITIZED
extern "C" void __sanitizer_set_death_callback(void (*callback)());  // NOLINT: the sanitizers' own name
#endif

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty() || (words[0].starts_with("--") && words.size() != 2)) {
    return usage(argv[0]);
  }
  if (words[0] == "--seeds") {
    write_seeds(words[1]);
    return 0;
  }
  kept_path = std::filesystem::path(argv[0]).filename().string() + ".input";
#ifdef MODLAB_SANITIZED
  // They have their own way to die, and take terabytes of addresses.
  __sanitizer_set_death_callback(keep_input);
#else
  constexpr rlim_t kMaxMemory = rlim_t{3} << 30;
  const rlimit memory = {kMaxMemory, kMaxMemory};
  ::setrlimit(RLIMIT_AS, &memory);
  std::signal(SIGSEGV, on_signal);
#endif
  for (const int number : {SIGABRT, SIGALRM, SIGFPE, SIGILL, SIGBUS}) {
    std::signal(number, on_signal);
  }
  if (words[0] != "--runs") {
    for (const std::string& file : words) {
      feed(modlab::io::read_file(file, std::size_t{1} << 30));
    }
    return 0;
  }
  const std::optional<long long> runs = modlab::parse_integer(words[1]);
  if (!runs) {
    return usage(argv[0]);
  }
  const std::vector<std::string> texts = seeds();
  for (const std::string& text : texts) {
    feed(text);
  }
  Breaker breaker(texts);
  for (long long run = 0; run < *runs; ++run) {
    feed(breaker.next());
  }
  return 0;
}
