// Texts, sites and tracks by number: given once in the life of the process, written to every file that needs them.
//
// Everything is copied on the first use, so that a library that brought its sites along may be unloaded. Numbering
// takes a mutex; reading what has a number takes none. The mutex is not taken on records, but on the first record of a
// site.
#pragma once

#include <atomic>
#include <cstdint>

#include "record/block_list.h"
#include "record/mutex.h"
#include "telltale/telltale.h"

namespace telltale::record {

struct Text {
  const char* data;  // with a zero behind it
  std::uint32_t size;
  std::uint32_t hash;
};

struct Field {
  std::uint32_t name;
  std::uint32_t type;  // telltale_field_type
};

struct Site {
  std::uint32_t name, category, file, function;
  std::uint32_t line;
  std::uint32_t kind;
  std::uint32_t first_field, field_count;
  telltale_site* handle;  // what telltale_make_site() returned for it, or null
};

struct NamedTrack {
  std::uint32_t number;
  std::uint32_t type, clock;
  std::int32_t device, order;
  std::int64_t native_id;
  std::uint32_t name;
};

class Names {
 public:
  // 0 for the empty text, and when there are too many.
  std::uint32_t intern(const char* text);
  // 0 only without any memory: a site without a name.
  std::uint32_t number_of(const telltale_site& site);
  telltale_site* handle_of(const telltale_site& description);
  // 0 when there are too many.
  std::uint32_t add_track(const telltale_track& description);
  std::uint32_t next_track_number() { return next_track_.fetch_add(1, std::memory_order_relaxed); }

  // Numbers start at 1: element i has number i + 1.
  const auto& texts() const { return texts_; }
  const auto& sites() const { return sites_; }
  const auto& fields() const { return fields_; }
  const auto& tracks() const { return tracks_; }
  // Null for 0.
  const Site* site(std::uint32_t number) const { return number == 0 ? nullptr : &sites_[number - 1]; }

  void lock_for_fork() { mutex_.lock(); }
  void unlock_after_fork() { mutex_.unlock(); }
  void reset_in_child() { mutex_.reset_in_child(); }

 private:
  std::uint32_t intern_locked(const char* text);
  std::uint32_t number_locked(const telltale_site& site);
  std::uint32_t overflow_site();
  bool is_same(const Site& known, const telltale_site& site) const;
  bool is_text(std::uint32_t number, const char* text) const;
  void* keep(std::size_t size);
  const telltale_field* stored_fields(const Site& site);

  // Open addressing; a slot is a number, 0 when free. Grows with the list whose numbers it holds.
  struct Index {
    std::uint32_t* slots = nullptr;
    std::uint32_t mask = 0;
    void insert(std::uint32_t hash, std::uint32_t number);
    template <typename HashOf>
    bool grow(std::uint32_t used, HashOf hash_of);
  };

  Mutex mutex_;
  BlockList<Text, 1024, 512> texts_;
  BlockList<Site, 1024, 256> sites_;
  BlockList<Field, 1024, 256> fields_;
  BlockList<NamedTrack, 256, 64> tracks_;
  BlockList<telltale_site, 256, 1024> handles_;
  Index text_index_, site_index_;
  std::uint32_t overflow_site_ = 0;  // what all sites share for which there is no room
  std::atomic<std::uint32_t> next_track_ = 1;
  char* arena_ = nullptr;
  std::size_t arena_left_ = 0;
};

}  // namespace telltale::record
