#include "core/interrupt_note.h"

#include <gtest/gtest.h>

#include <csignal>

namespace modlab {
namespace {

TEST(InterruptNote, NotesEveryRequestToEnd) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const InterruptNote note;
    EXPECT_FALSE(note.arrived());
    std::raise(signal);
    EXPECT_TRUE(note.arrived());
  }
}

TEST(InterruptNote, OneInsideAnotherNotesTheSame) {
  const InterruptNote outer;
  {
    const InterruptNote inner;
    std::raise(SIGINT);
    EXPECT_TRUE(inner.arrived());
  }
  EXPECT_TRUE(outer.arrived());
  std::raise(SIGTERM);  // which would end the program if the inner one had taken the outer one's place
}

TEST(InterruptNote, ATerminalThatIsNotListenedToStaysSo) {
  std::signal(SIGHUP, SIG_IGN);
  std::signal(SIGINT, SIG_IGN);  // as scripts start what runs in the background
  {
    const InterruptNote note;
    std::raise(SIGHUP);
    EXPECT_FALSE(note.arrived()) << "as `nohup` means it";
    std::raise(SIGINT);
    EXPECT_TRUE(note.arrived());
  }
  std::signal(SIGHUP, SIG_DFL);
  std::signal(SIGINT, SIG_DFL);
}

}  // namespace
}  // namespace modlab
