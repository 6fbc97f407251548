#include "sim/config/attention_rows.hpp"

#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include "sim/config/rate_rows.hpp"

namespace syncline::config {

namespace {

constexpr std::string_view header = "kernel,pass,mask,head_size,sequence,tflops";
constexpr std::array<std::string_view, 2> attention_passes{"forward", "backward"}, masks{"none", "causal"};

}  // namespace

AttentionRows read_attention(const std::string& path, const std::string& text) {
    AttentionRows rows;
    std::set<std::tuple<std::string, bool, bool, double, double>> seen;
    const RateTable table{header, "this is not the header of a table of attention's rates",
                          "it begins with its header"};
    each_rate_row(path, text, table, [&](const std::string& line, const FailAtLine& fail) {
        const auto cell = rate_cells<6>(line);
        const auto backward = cell ? rate_word((*cell)[1], attention_passes) : std::nullopt;
        const auto causal = cell ? rate_word((*cell)[2], masks) : std::nullopt;
        const auto head_size = cell ? rate_number((*cell)[3]) : std::nullopt;
        const auto sequence = cell ? rate_number((*cell)[4]) : std::nullopt;
        const auto tflops = cell ? rate_number((*cell)[5]) : std::nullopt;
        if (!backward || !causal || !head_size || !sequence || !tflops || (*cell)[0].empty())
            fail("this is not a kernel, a pass, a mask and three numbers from 1 to 1e9",
                 "`cudnn,forward,causal,128,4096,616`; passes are forward and backward, masks causal and none");
        else if (!seen.insert({std::string((*cell)[0]), *backward == 1, *causal == 1, *head_size, *sequence}).second)
            fail("this shape of this kernel is there already", "leave one of both rates");
        else
            rows[std::string((*cell)[0])].push_back(
                {{*backward == 1, *causal == 1, *head_size, *sequence}, *tflops * 1e12});
    });
    return rows;
}

}  // namespace syncline::config
