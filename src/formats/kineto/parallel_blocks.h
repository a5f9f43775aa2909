// Reads the event list on several threads: each takes the next block of text, reads it, and hands it in.
//
// Blocks are cut by a guess (see block_parser.h). Reading block k tells whether the guess at its end was right; if it
// was not, the text from there on is read again together with the block behind it. So the result is that of reading the
// text from front to back, whatever the blocks and the number of threads.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "formats/kineto/block_parser.h"
#include "formats/kineto/block_source.h"

namespace telltale::kineto {

struct EventList {
  std::vector<std::unique_ptr<LocalNames>> names;  // what the blocks' rows refer to
  std::vector<EventBlock> blocks;                  // in the order of the file
  bool has_events = false, has_other_elements = false;
  bool has_ended = false;  // its closing bracket was found
  std::string tail;        // the text behind it
  std::uint64_t tail_offset = 0;
  bool was_cut = false;  // the text ends inside an event, which starts here:
  std::uint64_t cut_offset = 0;
  bool ends_after_element = false;  // without a closing bracket, but behind a whole element
};

// `source` stands behind the list's opening bracket. `progress` is called between blocks, by one thread at a time.
Result<EventList> read_event_list(BlockSource& source, unsigned threads, const std::function<void()>& progress);

}  // namespace telltale::kineto
