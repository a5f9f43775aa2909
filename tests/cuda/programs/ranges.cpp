// ranges: says all that NVTX can say, as test_nvtx.py expects it. Links nothing.
#include <nvtx3/nvToolsExt.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <thread>

namespace {

nvtxEventAttributes_t message_of(int type) {
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = type;
  return event;
}

}  // namespace

// Each value that NVTX returns is what it documents.
int main() {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("storage");
  nvtxEventAttributes_t registered = message_of(NVTX_MESSAGE_TYPE_REGISTERED);
  registered.message.registered = nvtxDomainRegisterStringA(domain, "registered");
  nvtxEventAttributes_t wide = message_of(NVTX_MESSAGE_TYPE_UNICODE);
  wide.message.unicode = L"wide \u00e4\u20ac\U0001F600";
  const nvtxEventAttributes_t nothing = message_of(NVTX_MESSAGE_UNKNOWN);

  nvtxNameOsThreadA(static_cast<std::uint32_t>(syscall(SYS_gettid)), "the main one");
  if (nvtxRangePushA("outer") != 0) return 2;
  for (int i = 0; i < 3; ++i) {
    if (nvtxRangePushA("inner") != 1) return 3;
    if (nvtxRangePop() != 1) return 4;
  }
  if (nvtxDomainRangePushEx(domain, &registered) != 0) return 5;
  nvtxMarkA("a mark");
  nvtxDomainMarkEx(domain, &wide);
  if (nvtxDomainRangePop(domain) != 0) return 6;
  nvtxRangePushEx(&nothing);
  nvtxRangePop();
  if (nvtxRangePop() != 0) return 7;

  const nvtxRangeId_t range = nvtxDomainRangeStartEx(domain, &registered);
  std::thread([&] {
    nvtxRangePushA("on another thread");
    nvtxRangePop();
    nvtxDomainRangeEnd(domain, range);
  }).join();

  if (nvtxRangePop() >= 0) return 8;
  nvtxRangeEnd(12345678);
  for (int i = 0; i < 1000; ++i) nvtxRangePushA("deep");
  for (int i = 0; i < 1000; ++i) nvtxRangePop();
  nvtxDomainDestroy(domain);
  return 0;
}
