#include "cli/memory_what_if.h"

#include <cstdint>

namespace telltale::cli {

void declare_memory_what_if(CLI::App& app, answers::MemoryWhatIfRequest& request) {
  app.add_option_function<std::string>(
         "--fits",
         [&request](const std::string& text) {
           const Result<std::int64_t> bytes = answers::parsed_capacity(text, answers::Spelling::kFlags);
           if (!bytes) throw CLI::ValidationError(bytes.error().message, CLI::ExitCodes::ValidationError);
           request.fits = *bytes;
         },
         "Whether it fits into a GPU with this much memory, where it fails first, and the largest batch that fits")
      ->type_name("SIZE");
  app.add_option("--batch", request.batch, "With so many times the recorded batch: 2x")->type_name("FACTOR");
  app.add_option("--other", request.other, "The same program recorded with another batch size: what grows is seen")
      ->type_name("TRACE");
  app.add_option("--settings", request.settings,
                 "Under other settings of PyTorch's allocator, as in PYTORCH_CUDA_ALLOC_CONF: expandable_segments:True")
      ->type_name("NAME:VALUE,…");
  app.add_option("--device", request.device,
                 "The GPU that these are about; without it the one of which most is reserved")
      ->type_name("N");
  app.add_option("--without", request.without, "With what these rules found fixed: whole_logits")->type_name("RULE …");
}

}  // namespace telltale::cli
