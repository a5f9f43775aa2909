// The signal on which a flight recorder writes what it holds. The session's own, under its mutex; one at a time.
#pragma once

namespace telltale::record {

// Takes the signal from whoever handles it.
void watch_flight_signal(int signal);
// Gives it back, unless the host has put a handler of its own there since. Signal-safe.
void unwatch_flight_signal(int signal);

}  // namespace telltale::record
