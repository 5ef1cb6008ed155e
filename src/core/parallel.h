#pragma once

#include <cstddef>
#include <functional>

// Threads to compute on are started here, for runs side by side, and in team.h, for the parts of one network.
namespace modlab {

// Calls `work` on so many threads at once, this one among them, and waits for all of them. It must not throw. Where the
// system gives fewer threads, it is fewer, and a notice says so.
void on_threads(int threads, const std::function<void()>& work);

// Calls work(0) to work(count - 1), each once, in any order, on up to `threads` threads. Throws what the first of them
// throws that fails; the others that have begun are finished, and no more are begun.
void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t)>& work);

}  // namespace modlab
