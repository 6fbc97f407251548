#include "sim/platform/pointwise_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace syncline {

namespace {

constexpr std::array<std::pair<std::string_view, Pointwise>, 17> kind_words{{
    {"normalisation", Pointwise::normalisation},
    {"normalisation-gradient", Pointwise::normalisation_gradient},
    {"activation", Pointwise::activation},
    {"activation-gradient", Pointwise::activation_gradient},
    {"dropout", Pointwise::dropout},
    {"dropout-gradient", Pointwise::dropout_gradient},
    {"softmax", Pointwise::softmax},
    {"softmax-gradient", Pointwise::softmax_gradient},
    {"addition", Pointwise::addition},
    {"copy", Pointwise::copy},
    {"loss", Pointwise::loss},
    {"loss-gradient", Pointwise::loss_gradient},
    {"embedding-gradient", Pointwise::embedding_gradient},
    {"optimizer", Pointwise::optimizer},
    {"row-product", Pointwise::row_product},
    {"scatter-addition", Pointwise::scatter_addition},
    {"index-addition", Pointwise::index_addition},
}};

}  // namespace

std::optional<Pointwise> pointwise_kind(std::string_view word) {
    const auto* const found =
        std::find_if(kind_words.begin(), kind_words.end(), [&](const auto& known) { return known.first == word; });
    return found == kind_words.end() ? std::nullopt : std::optional(found->second);
}

std::string pointwise_words() {
    std::string all;
    for (const auto& [word, kind] : kind_words) all += fmt::format("{}{}", all.empty() ? "" : ", ", word);
    return all;
}

PointwiseTable::PointwiseTable(const std::vector<Row>& rows) {
    for (const Row& row : rows) times_s_[row.kind][row.bytes] = row.seconds;
    for (const auto& [kind, times_s] : times_s_)
        for (auto point = times_s.begin(); std::next(point) != times_s.end(); ++point)
            if (const auto next = std::next(point); next->second < point->second)
                throw std::invalid_argument(
                    fmt::format("a kernel of {} bytes takes longer than one of {} bytes", point->first, next->first));
}

std::optional<double> PointwiseTable::seconds(Pointwise kind, double bytes) const {
    const auto found = times_s_.find(kind);
    if (found == times_s_.end()) return std::nullopt;
    const std::map<double, double>& times_s = found->second;
    const auto above = times_s.lower_bound(bytes);
    if (above == times_s.begin()) return above->second * bytes / above->first;
    const auto below = std::prev(above);
    if (above == times_s.end()) return below->second * bytes / below->first;
    const double part = std::log(bytes / below->first) / std::log(above->first / below->first);
    return below->second * std::pow(above->second / below->second, part);
}

}  // namespace syncline
