#include "core/notice.h"

#include <utility>

namespace modlab {
namespace {

Notice& notice_hook() {
  static Notice notice = [](const std::string&) {};
  return notice;
}

}  // namespace

void set_notice(Notice notice) { notice_hook() = std::move(notice); }
void give_notice(const std::string& line) { notice_hook()(line); }

}  // namespace modlab
