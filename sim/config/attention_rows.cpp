#include "sim/config/attention_rows.hpp"

#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include "sim/config/rate_rows.hpp"

namespace syncline::config {

namespace {

constexpr std::string_view header = "kernel,pass,mask,head_size,sequence,tflops";
/// Returns the index of one of two words.
std::optional<bool> second_of(std::string_view cell, std::string_view first, std::string_view second) {
    if (cell == first) return false;
    if (cell == second) return true;
    return std::nullopt;
}

}  // namespace

AttentionRows read_attention(const std::string& path, const std::string& text) {
    AttentionRows rows;
    std::set<std::tuple<std::string, bool, bool, double, double>> seen;
    const RateTable table{header, "this is not the header of a table of attention's rates",
                          "it begins with its header"};
    each_rate_row(path, text, table, [&](const std::string& line, const FailAtLine& fail) {
        const auto cell = rate_cells<6>(line);
        const auto backward = cell ? second_of((*cell)[1], "forward", "backward") : std::nullopt;
        const auto causal = cell ? second_of((*cell)[2], "none", "causal") : std::nullopt;
        const auto head_size = cell ? rate_number((*cell)[3]) : std::nullopt;
        const auto sequence = cell ? rate_number((*cell)[4]) : std::nullopt;
        const auto tflops = cell ? rate_number((*cell)[5]) : std::nullopt;
        if (!backward || !causal || !head_size || !sequence || !tflops || (*cell)[0].empty())
            fail("this is not a kernel, a pass, a mask and three numbers from 1 to 1e9",
                 "`cudnn,forward,causal,128,4096,616`; passes are forward and backward, masks causal and none");
        else if (!seen.insert({std::string((*cell)[0]), *backward, *causal, *head_size, *sequence}).second)
            fail("this shape of this kernel is there already", "leave one of both rates");
        else
            rows[std::string((*cell)[0])].push_back({{*backward, *causal, *head_size, *sequence}, *tflops * 1e12});
    });
    return rows;
}

}  // namespace syncline::config
