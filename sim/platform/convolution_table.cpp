#include "sim/platform/convolution_table.hpp"

#include <stdexcept>
#include <string>

namespace syncline {

namespace {

std::size_t kind_of(const ConvolutionWork& work) {
    return 2 * static_cast<std::size_t>(work.pass) + (work.pointwise ? 1 : 0);
}

}  // namespace

ConvolutionTable::ConvolutionTable(const std::vector<Row>& rows, const Modelled& modelled) {
    for (std::size_t f = 0; f < all_.size(); ++f) {
        const auto factors = static_cast<Factors>(f);
        std::array<std::vector<MeasuredProduct>, kinds> measured;
        bool any = false;
        for (const Row& row : rows) {
            if (row.factors != factors) continue;
            measured[kind_of(row.work)].push_back({row.work.product, row.flops_per_s});
            any = true;
        }
        if (!any) continue;
        std::vector<ProductTable>& tables = all_[f].emplace();
        for (const std::vector<MeasuredProduct>& products : measured) {
            if (products.empty())
                throw std::invalid_argument(std::string("a pass or a kind of kernel has no convolution of ") +
                                            name_of(factors));
            tables.emplace_back(
                products, [modelled, factors](const MatrixProduct& product) { return modelled(product, factors); });
        }
    }
}

std::optional<double> ConvolutionTable::seconds(const ConvolutionWork& work, Factors factors) const {
    const auto& tables = all_[static_cast<std::size_t>(factors)];
    if (!tables) return std::nullopt;
    return (*tables)[kind_of(work)].seconds(work.product);
}

}  // namespace syncline
