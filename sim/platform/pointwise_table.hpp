#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Measured times of kernels that do little arithmetic for the bytes that they move: normalisations, activations,
/// dropout, softmax, additions, the loss, moving rows to places that indices say, … Those that sum over rows, draw
/// random numbers or read twice reach a half to two thirds of the memory's bandwidth. Times are by the bytes that one
/// kernel reads and writes, counted as in sim/workload/kernels.hpp. Between two measured points the logarithm of the
/// time is linear in that of the bytes; beyond the largest and below the smallest one time is in proportion. Left out:
/// the shape of the data (rows and their width), whether it is in a cache.
namespace syncline {

enum class Pointwise {
    other,  ///< by its bytes
    normalisation,
    normalisation_gradient,
    activation,
    activation_gradient,
    dropout,
    dropout_gradient,
    softmax,
    softmax_gradient,
    addition,
    copy,
    loss,
    loss_gradient,
    embedding_gradient,
    optimizer,
    row_product,       ///< of each row and its number
    scatter_addition,  ///< of rows to those of a cleared matrix, element by element (scatter_add)
    index_addition     ///< the same (index_add)
};

/// Returns the kind of a word in a table; nothing if there is none.
std::optional<Pointwise> pointwise_kind(std::string_view word);
/// Returns all words, in order, separated by commas.
std::string pointwise_words();

class PointwiseTable {
public:
    struct Row {
        Pointwise kind = Pointwise::other;
        double bytes = 0, seconds = 0;
    };

    /// Throws std::invalid_argument if a kernel of some kind takes longer than a larger one of it.
    explicit PointwiseTable(const std::vector<Row>& rows);

    /// Returns the time of a kernel that moves this many bytes; nothing if no kernel of its kind was measured.
    std::optional<double> seconds(Pointwise kind, double bytes) const;

private:
    std::map<Pointwise, std::map<double, double>> times_s_;  ///< by kind and bytes
};

}  // namespace syncline
