#include "sim/topology/spectrum.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/Sparse>
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>

#include "sim/topology/lanczos.hpp"

namespace syncline {

namespace {

using Matrix = Eigen::SparseMatrix<double>;

constexpr double tolerance = 1e-9;
constexpr Eigen::Index few = 512;  ///< in hosts: up to here cubic time is acceptable

Matrix mixing_matrix(const Network& network, bool one_way) {
    std::vector<double> degrees(network.vertices(), 0);
    for (std::uint32_t vertex = 0; vertex < network.vertices(); ++vertex)
        for (const Link& link : network.links(vertex)) degrees[vertex] += link.out > 0 ? 1 : 0;
    std::vector<Eigen::Triplet<double>> entries;
    for (std::uint32_t vertex = 0; vertex < network.vertices(); ++vertex) {
        const double own = degrees[vertex];
        double rest = 1;
        const int row = static_cast<int>(vertex);
        for (const Link& link : network.links(vertex)) {
            if (link.out == 0) continue;
            const double weight = 1 / (1 + (one_way ? own : std::max(own, degrees[link.to])));
            entries.emplace_back(row, static_cast<int>(link.to), weight);
            rest -= weight;
        }
        entries.emplace_back(row, row, rest);
    }
    const auto order = static_cast<Eigen::Index>(network.vertices());
    Matrix matrix(order, order);
    matrix.setFromTriplets(entries.begin(), entries.end());
    return matrix;
}

/// Returns |λ2| from the characters of the group, without the trivial one.
double second_of_cayley_graph(const Network& network, const std::vector<std::uint32_t>& factors) {
    double second = 0;
    for (std::uint32_t character = 1; character < network.hosts(); ++character) {
        std::complex<double> sum = 1;
        double degree = 0;
        for (const Link& link : network.links(0)) {
            if (link.out == 0) continue;
            double turns = 0;
            std::uint64_t left = character, step = link.to;
            for (const std::uint32_t factor : factors) {
                turns += static_cast<double>((left % factor) * (step % factor) % factor) / factor;
                left /= factor;
                step /= factor;
            }
            sum += std::polar(1.0, 2 * std::numbers::pi * turns);
            ++degree;
        }
        second = std::max(second, std::abs(sum) / (degree + 1));
    }
    return second;
}

double second_of_symmetric(const Matrix& matrix) {
    const Eigen::Index order = matrix.rows();
    const auto apply = [&](const Eigen::VectorXd& vector) -> Eigen::VectorXd { return matrix * vector; };
    const Extremes plain = lanczos(apply, order, order <= few ? order : 200, tolerance);
    if (plain.converged) return std::max(std::abs(plain.greatest), std::abs(plain.least));

    // Eigenvalues crowd below 1, as in long rings; the inverse of (1+ε)·1 - W separates them. Graphs that mix so slowly
    // have small cuts, hence factors with few entries.
    constexpr double shift = 1e-8;
    Matrix identity(order, order);
    identity.setIdentity();
    const Eigen::SimplicialLDLT<Matrix> factored((1 + shift) * identity - matrix);
    const auto solve = [&](const Eigen::VectorXd& vector) -> Eigen::VectorXd { return factored.solve(vector); };
    const double crowded = 1 + shift - 1 / lanczos(solve, order, 200, tolerance).greatest;
    return std::max(crowded, std::abs(plain.least));
}

double second_of_any(const Matrix& matrix) {
    const Eigen::MatrixXd dense = matrix;
    Eigen::VectorXd moduli = Eigen::EigenSolver<Eigen::MatrixXd>(dense, false).eigenvalues().cwiseAbs();
    std::sort(moduli.begin(), moduli.end());
    return moduli[moduli.size() - 2];
}

}  // namespace

std::optional<double> spectral_gap(const Network& network, const std::vector<std::uint32_t>& factors) {
    if (network.vertices() > network.hosts()) return std::nullopt;
    if (network.hosts() == 1) return 1;
    if (!factors.empty()) return 1 - second_of_cayley_graph(network, factors);
    const bool one_way = network.one_way();
    if (one_way && network.hosts() > few) return std::nullopt;
    const Matrix matrix = mixing_matrix(network, one_way);
    return 1 - (one_way ? second_of_any(matrix) : second_of_symmetric(matrix));
}

std::vector<std::uint32_t> spectral_order(const Network& network) {
    std::vector<std::uint32_t> order(network.hosts());
    std::iota(order.begin(), order.end(), 0);
    if (network.vertices() < 2) return order;
    const Matrix matrix = mixing_matrix(network, false);
    // One-way links count for both ends, because the aim is a cut.
    const Matrix symmetric = (matrix + Matrix(matrix.transpose())) / 2;
    const auto apply = [&](const Eigen::VectorXd& vector) -> Eigen::VectorXd { return symmetric * vector; };
    const Eigen::VectorXd mode = lanczos(apply, symmetric.rows(), 100, 1e-6).mode;
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return mode[static_cast<Eigen::Index>(a)] < mode[static_cast<Eigen::Index>(b)];
    });
    return order;
}

}  // namespace syncline
