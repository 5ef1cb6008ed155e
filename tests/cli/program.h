#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "temporary_folder.h"

namespace modlab::test {

using Words = std::vector<std::string>;

inline Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// A line of a shell without quotes.
inline Words words_of(const std::string& line) {
  std::istringstream stream(line);
  Words words;
  for (std::string word; stream >> word;) {
    words.push_back(word);
  }
  return words;
}

inline Words lines_of(const std::string& text) {
  std::istringstream stream(text);
  Words lines;
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

struct Outcome {
  int exit_code = -1;  // minus the signal if one ended it
  std::string out;
  std::string err;
};

// A program started in a folder, its output caught.
class Process {
 public:
  Process(const Words& command, const std::string& folder, const std::map<std::string, std::string>& environment = {}) {
    int out[2];
    int err[2];
    if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0) {
      ADD_FAILURE() << "no pipe";
      return;
    }
    // Everything that allocates is done before the fork.
    std::vector<std::string> variables;
    for (char** variable = environ; *variable != nullptr; ++variable) {
      const std::string text = *variable;
      if (!text.starts_with("MODLAB_") && !text.starts_with("COLUMNS=")) {
        variables.push_back(text);
      }
    }
    for (const auto& [name, value] : environment) {
      variables.push_back(name + "=" + value);
    }
    std::vector<char*> arguments = pointers(command);
    std::vector<char*> variable_pointers = pointers(variables);
    id_ = ::fork();
    if (id_ == 0) {
      ::dup2(out[1], STDOUT_FILENO);
      ::dup2(err[1], STDERR_FILENO);
      if (::chdir(folder.c_str()) == 0) {
        ::execve(arguments[0], arguments.data(), variable_pointers.data());
      }
      ::_exit(127);
    }
    ::close(out[1]);
    ::close(err[1]);
    pipes_[0] = out[0];
    pipes_[1] = err[0];
  }
  ~Process() {
    if (id_ > 0) {
      ::kill(id_, SIGKILL);
      wait();
    }
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void interrupt() const { ::kill(id_, SIGINT); }
  void kill() const { ::kill(id_, SIGKILL); }
  void pause() const { ::kill(id_, SIGSTOP); }
  void resume() const { ::kill(id_, SIGCONT); }
  pid_t id() const { return id_; }

  Outcome wait() {
    Outcome outcome;
    std::string* texts[] = {&outcome.out, &outcome.err};
    pollfd waiting[] = {{pipes_[0], POLLIN, 0}, {pipes_[1], POLLIN, 0}};
    while (waiting[0].fd >= 0 || waiting[1].fd >= 0) {
      ::poll(waiting, 2, -1);
      for (int which = 0; which < 2; ++which) {
        if (waiting[which].fd < 0 || waiting[which].revents == 0) {
          continue;
        }
        char block[1 << 14];
        const ssize_t count = ::read(waiting[which].fd, block, sizeof(block));
        if (count > 0) {
          texts[which]->append(block, static_cast<std::size_t>(count));
        } else {
          ::close(waiting[which].fd);
          waiting[which].fd = -1;
        }
      }
    }
    int status = 0;
    ::waitpid(id_, &status, 0);
    id_ = -1;
    outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    return outcome;
  }

 private:
  static std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> found;
    for (const std::string& text : texts) {
      found.push_back(const_cast<char*>(text.c_str()));
    }
    found.push_back(nullptr);
    return found;
  }

  pid_t id_ = -1;
  int pipes_[2] = {-1, -1};
};

// What a program said on standard error but for its progress, which a busy machine brings about.
inline std::string complaint(const Outcome& outcome) {
  std::string text;
  for (const std::string& line : lines_of(outcome.err)) {
    if (!line.starts_with("Planning; ") && line.find(" %: ") == std::string::npos) {
      text += line + "\n";
    }
  }
  return text;
}

// Runs the program as its users do, in a folder of the test's own.
class ProgramTest : public testing::Test {
 protected:
  static Words command(const Words& words) { return joined({MODLAB_PROGRAM}, words); }

  Outcome run(const Words& words, const std::map<std::string, std::string>& environment = {}) const {
    return Process(command(words), folder_.path().string(), environment).wait();
  }
  Outcome run(const std::string& line) const { return run(words_of(line)); }

  // Runs a command that must succeed and gives its standard output.
  std::string output(const Words& words, const std::map<std::string, std::string>& environment = {}) const {
    const Outcome outcome = run(words, environment);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  }
  nlohmann::json json_output(const Words& words, const std::map<std::string, std::string>& environment = {}) const {
    const std::string text = output(words, environment);
    nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << "not JSON: " << text.substr(0, 200);
    return json;
  }
  nlohmann::json json_output(const std::string& line) const { return json_output(words_of(line)); }

  // One line on standard error that has all the parts, exit code 2, and no trace anywhere.
  void expect_refused(const Words& words, const Words& parts = {}) const {
    std::string line;
    for (const std::string& word : words) {
      line += word + " ";
    }
    const Words before = folder_.names();
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 2) << line << "\n" << outcome.err;
    EXPECT_EQ(outcome.out, "") << line;
    const std::string said = complaint(outcome);
    EXPECT_EQ(std::ranges::count(said, '\n'), 1) << line << "\n" << said;
    EXPECT_TRUE(said.starts_with("modlab: ") && said.ends_with("\n")) << line << "\n" << said;
    for (const std::string& part : parts) {
      EXPECT_NE(said.find(part), std::string::npos) << line << "\n" << said << "lacks: " << part;
    }
    EXPECT_EQ(folder_.names(), before) << line;
  }
  void expect_refused(const std::string& line, const Words& parts = {}) const { expect_refused(words_of(line), parts); }

  TemporaryFolder folder_;
};

}  // namespace modlab::test
