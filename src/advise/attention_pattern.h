// Attention that is written out: a batched product, a softmax of it, and a product with that.
#pragma once

#include <vector>

#include "advise/facts.h"
#include "advise/forward_stretch.h"

namespace telltale {

struct WrittenAttention {
  ForwardStretch stretch;                        // from the first product to the end of the second
  EventId first_product, softmax, last_product;  // operators; products with what surrounds them (aten::matmul, einsum)
  double flops = 0;                              // of the forward pass; 0 without shapes
};

// In the order of their softmax. None within scaled_dot_product_attention, which may write attention out as well.
std::vector<WrittenAttention> written_attentions(const Facts& facts);

}  // namespace telltale
