#pragma once

namespace modlab {

// What the calling thread has computed so far, in seconds, whatever else the machine was doing.
double thread_seconds();

}  // namespace modlab
