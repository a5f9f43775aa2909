// Reads the texts of OperatorInputs: the shapes of an operator's arguments and their values.
//
// Pure and thread-safe. Text that does not read as expected yields fewer or emptier elements, never an error: it comes
// from a file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telltale {

using Shape = std::vector<std::int64_t>;

// One shape an argument, empty where the argument is no tensor. A list of tensors has an empty shape too, as in
// torch's own tables: [[16,1000],[],[[3],[4]]] is {{16, 1000}, {}, {}}.
std::vector<Shape> tensor_shapes(std::string_view shapes);

// One text an argument: ["","2","[2, 2]"] is {"", "2", "[2, 2]"}.
std::vector<std::string> concrete_values(std::string_view concrete);

// "[2, 2]" is {2, 2}; empty when it is not a flat list of whole numbers.
Shape whole_numbers(std::string_view list);

// As torch prints shapes: [[16, 1000], [], []].
std::string to_string(const std::vector<Shape>& shapes);

}  // namespace telltale
