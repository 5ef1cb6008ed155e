#pragma once

#include <optional>
#include <string>

namespace modlab {

// Messages between the processes of one job, its ranks. One thread of a process uses it.
class Link {
 public:
  struct Message {
    int from = 0;
    std::string bytes;
  };

  Link() = default;
  virtual ~Link() = default;  // without close(): the job is broken, and its launcher ends the others
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  // That this process may take as its own: its share of what the ranks on its machine have.
  virtual int cores() const = 0;
  // Never waits. Messages from one rank to another arrive in order.
  virtual void send(int to, std::string bytes) = 0;
  // A message that has arrived, if there is one. Never waits.
  virtual std::optional<Message> receive() = 0;
  // The last call, of all ranks: returns when what was sent has arrived.
  virtual void close() = 0;
};

}  // namespace modlab
