// Names of kernels, cut down to what tells them apart.
//
// A kernel's name is a C++ signature, often of hundreds of characters. What it computes stands in one template
// argument, under wrappers: vectorized_elementwise_kernel<4, AUnaryFunctor<float, float, float, MulFunctor<float>>,
// std::array<char*, 2ul>>(int, …) is vectorized_elementwise_kernel<MulFunctor>.
#pragma once

#include <string>
#include <string_view>

namespace telltale {

// The kernel with what it computes, without namespaces, wrappers, parameters and return type. Where no template
// argument names a computation, the arguments themselves are kept.
std::string short_kernel_name(std::string_view name);

// All template arguments kept: for kernels that have the same short name.
std::string medium_kernel_name(std::string_view name);

}  // namespace telltale
