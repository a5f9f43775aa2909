// What the program waits for when it asks its data loader for the next batch, for the rules about loading.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "advise/facts.h"
#include "advise/models/worker_model.h"
#include "advise/patterns/epoch_seams.h"
#include "trace/loader_facts.h"

namespace telltale {

struct DataLoading {
  // For a batch, on the threads that feed the device, but for those at the seams; longest first.
  std::vector<EventId> calls;
  double batches = 0;            // per step, that these ask for
  std::vector<EpochSeam> seams;  // at which worker processes are started anew; by start
  Nanoseconds recorded = 0;      // per step, in the calls

  bool is_in_main_process = false;         // the batch is made by the thread that asks for it
  std::optional<LoaderSetup> setup;        // of the loader, where the recording says
  std::optional<Nanoseconds> batch_takes;  // a worker, as recorded; where the recording says
  std::optional<LoaderLine> line;          // on which most of the time is spent, if it is a good part of it

  BatchMaking making;
  Nanoseconds saved_when_ready = 0;            // per step, with every batch ready when it is asked for; never negative
  std::shared_ptr<const KeptEdit> when_ready;  // the same as a change to the program, where changes are kept
  // The workers that the program has are idle for a good part of the time: they are not what it waits for.
  bool are_workers_idle = false;
  int workers = kMostWorkers;  // that the program should have
  Nanoseconds saved = 0;       // per step, with batches made ahead by so many worker processes; never negative

  // What changes where steps wait less for batches, by so much in all: that part of what batches that are all ready
  // spare them.
  std::shared_ptr<const KeptEdit> with_less_waiting(Nanoseconds less) const {
    return partly(when_ready,
                  static_cast<double>(less) / static_cast<double>(std::max<Nanoseconds>(saved_when_ready, 1)));
  }
  // 0 where the recording does not say.
  int workers_now() const { return setup ? setup->workers : 0; }
};

// For Facts::data_loading(), which does so once.
DataLoading find_data_loading(const Facts& facts);

// The change that gives a loader as many workers as it should have.
std::string code_with_workers(const Facts& facts, const DataLoading& loading);

// "83 % of it in dataset.py:41 (__getitem__)", where it waits with ", sleeping" behind it. For a loading with a line.
std::string part_in_line(const LoaderLine& line);

// "dataset.py:41", for sentences; where the file is, the finding's source says.
std::string place_of(const LoaderLine& line);

}  // namespace telltale
