// The list of events, a block of text at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "formats/kineto/event_parser.h"
#include "formats/kineto/event_writer.h"
#include "trace/event_block.h"

namespace telltale::kineto {

// What one thread needs to read events; it learns from block to block.
struct EventReader {
  explicit EventReader(LocalNames& names) : writer(names) {}
  EventParser parser;
  EventFields fields;
  EventWriter writer;
};

// Text that starts at an element of the event list, followed by padding (see scan.h). A block is meant to end where an
// event ends; whether it does, only reading it tells.
struct TextBlock {
  std::shared_ptr<char[]> storage;
  std::size_t size = 0;
  std::uint64_t byte_offset = 0;  // of its first byte in the file's text
  bool is_last = false;           // nothing follows in the file

  const char* begin() const { return storage.get(); }
  const char* end() const { return storage.get() + size; }
  std::string_view text() const { return {storage.get(), size}; }
};

// Writes the padding behind a block.
void pad(const TextBlock& block);

enum class BlockEnd : std::uint8_t {
  kBetweenEvents,  // the whole block was read
  kListEnd,        // the list ended at `position`, behind its closing bracket
  kInsideEvent,    // the block ends inside the event that starts at `position`
};

struct ParsedBlock {
  EventBlock events;
  BlockEnd end = BlockEnd::kBetweenEvents;
  std::size_t position = 0;       // in the block's text
  bool is_after_element = false;  // no comma had followed the last element before `position`
  bool has_events = false;        // elements that are events, usable or not, likewise:
  bool has_other_elements = false;
};

// Reads the block into rows. In the last block of a file, an event that the end of the text cuts off is counted as
// truncated and dropped. `is_after_element` is what is true of the text in front of the block.
ParsedBlock parse_block(const TextBlock& block, EventReader& reader, bool is_after_element = false);

// The first place at or behind `from` where an event seems to start: an opening bracket behind "},", followed by a key
// that events have. npos when there is none. A guess: the same bytes may stand inside an event.
std::size_t find_event_start(std::string_view text, std::size_t from);
// The last such place.
std::size_t find_last_event_start(std::string_view text);
// The first place at or behind `from` where the list seems to end: a closing bracket behind an event's.
std::size_t find_list_end(std::string_view text, std::size_t from);

}  // namespace telltale::kineto
