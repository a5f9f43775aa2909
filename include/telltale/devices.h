/* What devices do, recorded into the session that telltale.h starts: CUDA's kernels, copies and waits (by CUPTI), and
 * gauges such as utilization, memory, clocks, power and energy (by NVML and RAPL). C99; in libtelltale_devices.so,
 * which needs none of those at run time: where one is missing, the function says so and the program goes on.
 *
 *   telltale_start(&options);
 *   telltale_cuda_start(NULL);
 *   …
 *   telltale_cuda_stop();
 *   telltale_stop();
 *
 * `telltale record -- ./program` does this in a program that nobody changed. Every function may be called from any
 * thread that is not inside a function of CUDA; none of them in a signal handler. */
#ifndef TELLTALE_DEVICES_H
#define TELLTALE_DEVICES_H

#include <telltale/telltale.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which calls of CUDA's API are recorded, besides all that the device does. */
typedef enum telltale_cuda_calls {
  /* Launches, copies, waits, allocations and events; launches by the driver's names, which costs least. */
  TELLTALE_CUDA_CALLS_CHOSEN = 0,
  TELLTALE_CUDA_CALLS_AS_CALLED = 1, /* the same; by the runtime's names where the program calls the runtime */
  TELLTALE_CUDA_CALLS_ALL = 2        /* every call of the runtime and of the driver: several times as dear */
} telltale_cuda_calls;

/* Tells the stack of the calling thread, for what is recorded once and happens often: 0 when there is nothing to tell,
 * else `*stack` is a number from telltale_intern(). */
typedef int (*telltale_stack_source)(int is_new, uint32_t* stack, uint32_t* kept);

typedef struct telltale_cuda_options {
  size_t size;                  /* of this struct; set by telltale_default_cuda_options() */
  uint32_t calls;               /* telltale_cuda_calls (chosen) */
  uint32_t buffer_mib;          /* for records of the device that are not yet read (32); what does not fit is counted */
  telltale_stack_source stacks; /* who calls what a CUDA graph is captured from; null: nobody knows */
  uint32_t continues; /* not 0: goes on in the file in which it was stopped for a while; what was lost adds up */
  uint32_t reserved;
} telltale_cuda_options;

TELLTALE_API void telltale_default_cuda_options(telltale_cuda_options* options, size_t size);

/* Attaches CUPTI, which takes some 10 ms, and records from here on whenever the session does: whoever calls it some
 * steps before those that count has that behind it. `options` may be null. Where it cannot be done, nothing has
 * changed, and telltale_devices_error_text() says why: no driver, an older one, another profiler, no permission. */
TELLTALE_API telltale_status telltale_cuda_start(const telltale_cuda_options* options);

/* Waits for the device work that was launched since, records it, and detaches CUPTI, so that the process is as fast as
 * before. Threads may launch work meanwhile. Where the device is still at work after five seconds, or a stream is being
 * captured, for which nobody may wait, CUPTI records nothing any more but stays attached until a later call finds the
 * device idle. A CUPTI from before CUDA 12.6 stays for good in a process that uses CUDA graphs, which it breaks when it
 * goes. telltale_devices_error_text() says so the first time. Call it before telltale_stop(). */
TELLTALE_API telltale_status telltale_cuda_stop(void);

/* From here on until the first telltale_cuda_start(), notes what CUDA graphs are captured from, so that their kernels
 * are known in a recording that starts later. */
TELLTALE_API telltale_status telltale_cuda_watch_graphs(const telltale_cuda_options* options);

typedef struct telltale_gauge_options {
  size_t size;   /* of this struct; set by telltale_default_gauge_options() */
  double hertz;  /* how often they are read (10) */
  uint32_t nvml; /* not 0: of NVIDIA's devices (1) */
  uint32_t rapl; /* not 0: the energy of the processors (1) */
} telltale_gauge_options;

TELLTALE_API void telltale_default_gauge_options(telltale_gauge_options* options, size_t size);

/* Reads gauges on a thread of its own, as counters of the session. It is an error when there are none to read, and in a
 * process that was forked from one that reads them. NVIDIA's devices are numbered as CUDA does by the environment of
 * now: whoever may change that before CUDA is initialized begins without them, and calls it once more to add them. */
TELLTALE_API telltale_status telltale_gauges_start(const telltale_gauge_options* options);
TELLTALE_API telltale_status telltale_gauges_stop(void);

/* `telltale record` has a session begin in a process that initializes CUDA, unless PyTorch is there. Ends that one, for
 * who records the process in another way from here on; NOT_STARTED when there is none. */
TELLTALE_API telltale_status telltale_injected_stop(void);

/* What went wrong in the last call of this header on this thread, or should be known of it: one sentence, or "". */
TELLTALE_API const char* telltale_devices_error_text(void);

#ifdef __cplusplus
}
#endif

#endif
