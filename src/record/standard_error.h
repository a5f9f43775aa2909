// Where the recorder's sentences go. A host that has closed its standard error may have got the number 2 for a file of
// its own, in which no sentence of ours may stand.
#pragma once

namespace telltale::record {

// Standard error is what it is now. Called when a session begins; not while another thread says something.
void remember_standard_error();

// One line, with our name before it; nothing where standard error has become another file since.
void say(const char* sentence);

}  // namespace telltale::record
