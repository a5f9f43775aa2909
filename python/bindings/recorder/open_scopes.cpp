#include "open_scopes.h"

#include <atomic>

namespace telltale::python {
namespace {

std::atomic<std::uint64_t> recordings = 0;

}  // namespace

void count_recording() { recordings.fetch_add(1, std::memory_order_relaxed); }

bool OpenScopes::is_of_this_recording() {
  const std::uint64_t now = recordings.load(std::memory_order_relaxed);
  if (recording_ != now) {
    for (const Open& scope : open_) telltale_scope_abandon(scope.start);
    open_.clear();
    recording_ = now;
  }
  return !open_.empty();
}

void OpenScopes::begin(telltale_site* site, const void* what) {
  if (!telltale_is_recording()) return;
  is_of_this_recording();
  open_.push_back({site, telltale_scope_begin(site), what});
}

void OpenScopes::end() {
  if (!is_of_this_recording()) return;
  const Open last = open_.back();
  open_.pop_back();
  telltale_scope_end(last.site, last.start);
}

void OpenScopes::end_if(const void* what) {
  if (is_of_this_recording() && open_.back().what == what) end();
}

void OpenScopes::end_all() {
  while (is_of_this_recording()) end();
}

telltale_site* site_named(const char* name, telltale_kind kind) {
  telltale_site description = {};
  description.name = name;
  description.kind = kind;
  return telltale_make_site(&description);
}

}  // namespace telltale::python
