/* Telltale's recorder: what a native program calls to be recorded. C99; the ABI is stable within a major version.
 *
 *   static telltale_site work = TELLTALE_SITE("work");
 *   telltale_scope scope = telltale_begin(&work);
 *   …
 *   telltale_end(&scope);
 *
 * Every function may be called from any thread at any time, before, during and after a recording; those marked "signal"
 * also from a signal handler. None aborts, throws or blocks, except as the policy TELLTALE_POLICY_BLOCK asks for. While
 * nothing is recorded, a scope is a load and a branch. With TELLTALE_DISABLED defined, the macros of telltale.hpp
 * compile to nothing.
 *
 * Signals: a handler may call what is marked "signal" wherever it comes, in the middle of any function of the recorder
 * too. None of these allocates, changes errno, or waits for something that the interrupted thread has. What a handler
 * emits while its thread is in the middle of a record is dropped: the function returns TELLTALE_STATUS_OK, and
 * `dropped_in_signal` counts it. While the recorder changes what handlers need, the signals of the thread wait, for
 * microseconds, or for as long as a file takes to open. Faults (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS) do
 * not wait: what their handlers emit there, and what functions given to pthread_atfork() emit, is dropped and counted
 * the same way when it has a new site or needs a new buffer; telltale_make_site(), telltale_intern() and
 * telltale_make_track() return what they return when there is no room. A handler that longjmp()s out of the recorder
 * leaves its thread without records. The thread of on_ready has all signals but faults blocked.
 *
 * Forks: a child never writes to its parent's file, however it came to be (fork, vfork, clone, posix_spawn). A handler
 * may fork wherever the C library lets it, and its child may return, unless it handles a fault.
 *
 * Unloading: once it has recorded, a library that contains the recorder stays loaded after dlclose().
 *
 * Names: functions and types begin with telltale_, macros with TELLTALE_, and enumerators with the name of their type.
 *
 * Return values: a telltale_status says whether a function did what it was asked for; TELLTALE_STATUS_OK is 0. For
 * functions that emit, that is whether a recording took note of the event: it is in the file, or counted as dropped. A
 * function whose name has "is" in it returns 0 or 1.
 *
 * Structs that begin with a `size` may grow: fill them in with their telltale_default_…() function first, and a program
 * goes on working with a newer library, and with an older one unless it asks for what that does not know. The others
 * never change.
 *
 * docs/native.md teaches it in five minutes. */
#ifndef TELLTALE_TELLTALE_H
#define TELLTALE_TELLTALE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TELLTALE_API __attribute__((visibility("default")))

/* The one place where the version stands: CMake and the Python package read it from here. */
#define TELLTALE_VERSION_MAJOR 0
#define TELLTALE_VERSION_MINOR 1
#define TELLTALE_VERSION_PATCH 0

TELLTALE_API const char* telltale_version(void); /* "0.1.0": of the library, not of this header */

/* What became of a call. */
typedef enum telltale_status {
  TELLTALE_STATUS_OK = 0,
  TELLTALE_STATUS_NOT_RECORDING = 1, /* nothing is recorded now: what was emitted is gone */
  TELLTALE_STATUS_ALREADY_STARTED = 2,
  TELLTALE_STATUS_NOT_STARTED = 3,
  TELLTALE_STATUS_BAD_OPTIONS = 4,
  TELLTALE_STATUS_CANNOT_OPEN = 5,  /* the file */
  TELLTALE_STATUS_NO_MEMORY = 6,    /* or no thread could be started */
  TELLTALE_STATUS_CANNOT_WRITE = 7, /* something was lost on the way to the file; the statistics say how much */
  TELLTALE_STATUS_NOT_FLIGHT = 8,   /* telltale_dump() needs a flight recorder */
  TELLTALE_STATUS_IN_CALLBACK = 9   /* on_ready runs on the writer's thread, which cannot wait for itself */
} telltale_status;

/* What went wrong in the last call on this thread that was about a session: one sentence, or "". Valid until the next
 * such call on the thread. */
TELLTALE_API const char* telltale_error_text(void);

/* What a span is. In doubt, TELLTALE_KIND_SCOPE. */
typedef enum telltale_kind {
  TELLTALE_KIND_SCOPE = 0,
  TELLTALE_KIND_FUNCTION = 1,
  TELLTALE_KIND_ANNOTATION = 2, /* a phase that the user named, such as "forward" */
  TELLTALE_KIND_OPERATOR = 3,   /* of a framework */
  TELLTALE_KIND_PYTHON = 4,
  TELLTALE_KIND_MODULE = 5,
  TELLTALE_KIND_RUNTIME = 6, /* a call of a device's runtime API */
  TELLTALE_KIND_DRIVER = 7,
  TELLTALE_KIND_KERNEL = 8, /* this and the next four: on a device's stream */
  TELLTALE_KIND_MEMCPY = 9,
  TELLTALE_KIND_MEMSET = 10,
  TELLTALE_KIND_SYNC = 11,
  TELLTALE_KIND_COLLECTIVE = 12,
  TELLTALE_KIND_OVERHEAD = 13,
  TELLTALE_KIND_OTHER = 14,
  TELLTALE_KIND_DEVICE_ANNOTATION = 15
} telltale_kind;

typedef enum telltale_field_type {
  TELLTALE_FIELD_TYPE_INTEGER = 0,
  TELLTALE_FIELD_TYPE_FLOAT = 1,
  TELLTALE_FIELD_TYPE_TEXT = 2,
  TELLTALE_FIELD_TYPE_SHAPE = 3, /* sizes of dimensions */
  TELLTALE_FIELD_TYPE_NAME = 4   /* a text that many records share: an integer from telltale_intern() */
} telltale_field_type;

typedef struct telltale_field {
  const char* name;
  uint32_t type; /* telltale_field_type */
  uint32_t reserved;
} telltale_field;

/* The value of one field, as its type says. Texts and shapes are copied at once. */
typedef union telltale_value {
  int64_t integer;
  double number;
  struct {
    const char* data;
    size_t size;
  } text;
  struct {
    const int64_t* dims;
    size_t rank;
  } shape;
} telltale_value;

/* A place in a program, or anything else with a name that many records share. Static, or from telltale_make_site(). Its
 * texts are copied when it is first used. A null text is an empty one. */
typedef struct telltale_site {
  const char* name;
  const char* category;
  const char* file;
  const char* function;
  const telltale_field* fields; /* each record of this site has a value for each of them */
  uint32_t field_count;
  uint32_t line;
  uint32_t kind; /* telltale_kind */
  uint32_t id;   /* 0; the recorder's own */
} telltale_site;

#define TELLTALE_SITE_OF_KIND(name, kind) {(name), "", __FILE__, __func__, NULL, 0, __LINE__, (kind), 0}
/* For static sites at file scope, where there is no __func__, write the initializer out. */
#define TELLTALE_SITE(name) TELLTALE_SITE_OF_KIND(name, TELLTALE_KIND_SCOPE)

/* A site for a name that is only known at run time. Equal descriptions give the same site, which lives for ever. Never
 * null: those for which the memory limit has no room share the name "(too many names)". (signal) */
TELLTALE_API telltale_site* telltale_make_site(const telltale_site* description);

/* A number for a text, for fields of the type TELLTALE_FIELD_TYPE_NAME and telltale_allocation's pools. Equal texts
 * give the same number; 0 is the empty text, and each for which the memory limit has no room. (signal) */
TELLTALE_API uint32_t telltale_intern(const char* text);

/* Not 0 while something is recorded. */
TELLTALE_API extern uint32_t telltale_recording;

static inline int telltale_is_recording(void) { return __atomic_load_n(&telltale_recording, __ATOMIC_RELAXED) != 0; }

/* The recorder's clock, in ticks of its own. (signal) */
TELLTALE_API uint64_t telltale_now(void);

typedef struct telltale_scope {
  telltale_site* site; /* null: nothing was recorded when it began */
  uint64_t start;
} telltale_scope;

TELLTALE_API uint64_t telltale_scope_begin(telltale_site* site);
TELLTALE_API telltale_status telltale_scope_end(telltale_site* site, uint64_t start);
/* Ends it without a record: for scopes that began in a recording which is over. (signal) */
TELLTALE_API void telltale_scope_abandon(uint64_t start);
TELLTALE_API telltale_status telltale_scope_end_with(telltale_site* site, uint64_t start, const telltale_value* values);
/* For sites whose fields are integers, names and floats alone: the bits of an int64_t or a double for each. */
TELLTALE_API telltale_status telltale_scope_end_words(telltale_site* site, uint64_t start, const uint64_t* words);

/* A scope of the calling thread. It must end on the thread on which it began; scopes of a thread nest. (signal) */
static inline telltale_scope telltale_begin(telltale_site* site) {
  telltale_scope scope = {NULL, 0};
  if (telltale_is_recording()) {
    scope.site = site;
    scope.start = telltale_scope_begin(site);
  }
  return scope;
}
static inline telltale_status telltale_end(const telltale_scope* scope) {
  return scope->site != NULL ? telltale_scope_end(scope->site, scope->start) : TELLTALE_STATUS_NOT_RECORDING;
}
/* For sites with fields: a value for each. */
static inline telltale_status telltale_end_with(const telltale_scope* scope, const telltale_value* values) {
  return scope->site != NULL ? telltale_scope_end_with(scope->site, scope->start, values)
                             : TELLTALE_STATUS_NOT_RECORDING;
}

/* A mark. `values` is null for sites without fields, here and below. (signal) */
TELLTALE_API telltale_status telltale_instant(telltale_site* site, const telltale_value* values);

/* A value over time; the site names it. (signal) */
TELLTALE_API telltale_status telltale_counter(telltale_site* site, double value);

/* Memory got (bytes > 0) or given back (bytes < 0). Device −1 is the host. (signal) */
typedef struct telltale_memory {
  uint64_t address;
  int64_t bytes;
  int32_t device;
  uint32_t pool;           /* from telltale_intern(); 0: none */
  int64_t total_allocated; /* on that device, after the event; −1: not known */
  int64_t total_reserved;
} telltale_memory;
TELLTALE_API telltale_status telltale_allocation(const telltale_memory* event);

/* An arrow from the scope around its start to the scope around its end, usually on another thread. The two have the
 * same name and id. (signal) */
typedef enum telltale_flow_role {
  TELLTALE_FLOW_ROLE_START = 0,
  TELLTALE_FLOW_ROLE_STEP = 1,
  TELLTALE_FLOW_ROLE_END = 2
} telltale_flow_role;
TELLTALE_API telltale_status telltale_flow(telltale_site* site, uint64_t id, telltale_flow_role role);

/* A span that belongs to no thread: a request, a download. Begin and end have the same name and id, and may come from
 * different threads. (signal) */
TELLTALE_API telltale_status telltale_async_begin(telltale_site* site, uint64_t id, const telltale_value* values);
TELLTALE_API telltale_status telltale_async_end(telltale_site* site, uint64_t id);

/* The name of the calling thread; a thread that never says has the system's name for it. */
TELLTALE_API void telltale_name_thread(const char* name);
TELLTALE_API void telltale_name_process(const char* name);

/* A pair that recordings from now on carry along: "model" → "resnet50". */
TELLTALE_API void telltale_metadata(const char* key, const char* value);

typedef enum telltale_track_type {
  TELLTALE_TRACK_TYPE_THREAD = 0,
  TELLTALE_TRACK_TYPE_STREAM = 1,
  TELLTALE_TRACK_TYPE_CUSTOM = 2
} telltale_track_type;
typedef enum telltale_clock {
  TELLTALE_CLOCK_TICKS = 0, /* telltale_now() */
  TELLTALE_CLOCK_MONOTONIC_NS = 1,
  TELLTALE_CLOCK_REALTIME_NS = 2
} telltale_clock;

typedef struct telltale_track {
  const char* name;
  uint32_t type;     /* telltale_track_type */
  uint32_t clock;    /* telltale_clock: of all times given for it */
  int32_t device;    /* −1: the host */
  int32_t order;     /* where it is shown among its like */
  int64_t native_id; /* a stream's number */
} telltale_track;

/* A line of time besides the threads: a GPU's stream, a network link. Lives for ever. 0 when there is no room.
 * (signal) */
TELLTALE_API uint32_t telltale_make_track(const telltale_track* description);

/* A span on that track. Equal correlations tie a kernel to the call that launched it; 0: none. (signal) */
TELLTALE_API telltale_status telltale_span_at(uint32_t track, telltale_site* site, uint64_t start, uint64_t end,
                                              uint64_t correlation, const telltale_value* values);
/* The same for those who learn of begin and end apart; spans of one track nest, and one thread speaks for a track.
 * (signal) */
TELLTALE_API telltale_status telltale_begin_at(uint32_t track, telltale_site* site, uint64_t time, uint64_t correlation,
                                               const telltale_value* values);
TELLTALE_API telltale_status telltale_end_at(uint32_t track, uint64_t time);

/* What to do when the writer cannot keep up and the memory limit is reached. All that is dropped is counted. */
typedef enum telltale_policy {
  TELLTALE_POLICY_DROP_NEWEST = 0,
  TELLTALE_POLICY_DROP_OLDEST = 1,
  TELLTALE_POLICY_BLOCK = 2 /* wait for the writer */
} telltale_policy;

/* What happens in a child after fork(). A child never writes into its parent's file. */
typedef enum telltale_fork {
  TELLTALE_FORK_SILENT = 0,  /* the child does not record, unless it starts a session of its own */
  TELLTALE_FORK_OWN_FILE = 1 /* the child records to the parent's path with its pid before the extension */
} telltale_fork;

/* torch.profiler's schedule: skip_first steps are left alone, then cycles of wait, warmup and active steps follow,
 * `repeat` times (0: for ever). */
typedef struct telltale_schedule {
  size_t size; /* of this struct; set by telltale_default_schedule() */
  uint32_t skip_first;
  uint32_t wait;
  uint32_t warmup;
  uint32_t active; /* at least one */
  uint32_t repeat;
  uint32_t skip_first_wait; /* not 0: the first cycle does not wait */
} telltale_schedule;

/* All zero, but for the size, which is `sizeof(telltale_schedule)` of the caller. */
TELLTALE_API void telltale_default_schedule(telltale_schedule* schedule, size_t size);

typedef enum telltale_action {
  TELLTALE_ACTION_NONE = 0,
  TELLTALE_ACTION_WARMUP = 1,
  TELLTALE_ACTION_RECORD = 2,
  TELLTALE_ACTION_RECORD_AND_SAVE = 3
} telltale_action;

/* What a schedule says of a step (0, 1, …). Without a schedule (null), all steps are recorded. */
TELLTALE_API telltale_action telltale_schedule_action(const telltale_schedule* schedule, uint64_t step);

typedef void (*telltale_trace_ready)(const char* path, void* user);
typedef void (*telltale_toggled)(int is_recording, void* user);
typedef void (*telltale_warming_up)(void* user);

typedef struct telltale_options {
  size_t size; /* of this struct; set by telltale_default_options() */
  /* Where to. "%p" becomes the pid, "%c" the number of the cycle or dump. Without "%c", the second file of a session is
   * called run.1.tell, the third run.2.tell. */
  const char* path;
  const telltale_schedule* schedule; /* copied by telltale_start(); null: everything is recorded */
  /* Bytes for all that grows (64 MiB): three quarters for records that are not yet written, a quarter (at least 256
   * KiB) for names and threads. Those stay as long as the process, and count in all sessions. What does not fit is
   * counted. Besides, the recorder needs at most 8 MiB while it records. */
  uint64_t memory_limit;
  uint32_t policy;     /* telltale_policy (drop newest) */
  uint32_t fork_mode;  /* telltale_fork (silent) */
  uint32_t flush_ms;   /* how long a record may wait for the file (25) */
  int32_t compression; /* zstd's level, 0: none (1); ignored by a build without zstd */
  /* Called when a file is complete; by step(), stop() or, for dumps, the writer's thread. It may call everything here,
   * and also end this session and start another; only on the writer's thread, what would wait for that thread says
   * TELLTALE_STATUS_IN_CALLBACK. */
  telltale_trace_ready on_ready;
  void* user; /* for on_ready, on_toggle and on_warmup */
  /* Flight recorder: when not 0, nothing is written until telltale_dump(), the signal, or a step that takes longer than
   * the threshold; then the last so many seconds are, as far as the memory limit held them. */
  double flight_seconds;
  double flight_step_seconds; /* dump when a step takes longer; 0: never */
  int32_t flight_signal;      /* dump when the process gets this signal, such as SIGUSR2; 0: none */
  uint32_t quiet;             /* not 0: say nothing on standard error when something was lost */
  /* Not 0: steps are left unrecorded and timed, so that an analysis can tell what recording costs. Without a schedule
   * that is six of each 31, and as many more as it takes for the program to be hardly slower than without the recorder;
   * with one, the file of a cycle stays open for some steps after its last. */
  uint32_t pauses;
  telltale_toggled on_toggle; /* called by step() before it stops recording steps, and after it began to again */
  /* Called by start() or step() when steps begin that warm up, for what takes its time before it can record. Steps that
   * warm up then do not count as unrecorded ones. None of the three callbacks falls into the time of a step. */
  telltale_warming_up on_warmup;
} telltale_options;

/* `size` is `sizeof(telltale_options)` of the caller. */
TELLTALE_API void telltale_default_options(telltale_options* options, size_t size);

/* One session at a time. The program goes on whatever happens; an error says that nothing will be recorded. When the
 * environment has TELLTALE_RECORD=path, a session with default options starts by itself when the library is loaded;
 * not in a program with more rights than whoever started it (setuid and the like). */
TELLTALE_API telltale_status telltale_start(const telltale_options* options);
/* Ends the session. The file is complete when it returns. A program that exits without it does the same. */
TELLTALE_API telltale_status telltale_stop(void);
/* Ends a step and begins the next one; acts as the schedule says. */
TELLTALE_API telltale_status telltale_step(void);
/* What children do that are forked from now on, until the session ends. Returns what they did until now. */
TELLTALE_API telltale_fork telltale_set_fork_mode(telltale_fork mode);
/* Returns when everything emitted before is in the file. */
TELLTALE_API telltale_status telltale_flush(void);
/* Writes what the flight recorder holds. `path` may be null: the session's. Returns when the file is complete. Each
 * call writes a file of its own, also when several threads call at once, or another one stops the session meanwhile. */
TELLTALE_API telltale_status telltale_dump(const char* path);

typedef struct telltale_statistics {
  uint64_t recorded; /* records in files of this session, or of the last one */
  uint64_t dropped;  /* the sum of the next five, and of dropped_held_up */
  uint64_t dropped_newest;
  uint64_t dropped_oldest;
  uint64_t dropped_in_signal; /* emitted in the middle of the recorder: see "Signals" above */
  uint64_t dropped_write_failed;
  uint64_t dropped_too_large;
  uint64_t aged_out; /* left the flight recorder's window unwritten; not a loss */
  uint64_t bytes_written;
  uint64_t files;
  uint64_t peak_memory;   /* bytes of records, names and threads held at once, at most; see memory_limit */
  uint64_t writer_cpu_ns; /* processor time of the writer's thread */
  uint64_t values_cut;    /* texts and shapes that no buffer holds: their beginning is recorded */
  /* Scopes that began inside 64 others of their thread. Each is recorded when it ends; should the process be killed
   * before, the file does not tell that it was open. */
  uint64_t open_scopes_not_kept;
  /* Events of threads that were inside the recorder when the recording ended, and still a second later: a signal
   * handler held them up. Each counts as one event, which may be there nevertheless. */
  uint64_t dropped_held_up;
  /* Names, sites, tracks and pairs of telltale_metadata() for which the memory limit had no room. Their events are
   * recorded, as "(too many names)" or without the value. */
  uint64_t names_not_kept;
} telltale_statistics;
/* Exact once the session has stopped. `size` is `sizeof(telltale_statistics)` of the caller. */
TELLTALE_API void telltale_get_statistics(telltale_statistics* statistics, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* TELLTALE_TELLTALE_H */
