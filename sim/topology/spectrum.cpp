#include "sim/topology/measures.hpp"

#include <Spectra/MatOp/SparseSymMatProd.h>
#include <Spectra/MatOp/SparseSymShiftSolve.h>
#include <Spectra/SymEigsShiftSolver.h>
#include <Spectra/SymEigsSolver.h>

#include <Eigen/Eigenvalues>
#include <Eigen/Sparse>
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <stdexcept>

namespace syncline {

namespace {

using Matrix = Eigen::SparseMatrix<double>;
using Product = Spectra::SparseSymMatProd<double>;
using Inverse = Spectra::SparseSymShiftSolve<double>;
using Spectra::SortRule;

constexpr double fine = 1e-9, rough = 1e-6, coarse = 1e-3;
constexpr Eigen::Index few = 512;      ///< in hosts: up to here cubic time is acceptable
constexpr Eigen::Index many = 20'000;  ///< in vertices: beyond, Spectra takes too long for graphs that mix slowly
constexpr Eigen::Index basis = 40;     ///< vectors that Spectra keeps
constexpr Eigen::Index restarts = 40;  ///< of Lanczos' method

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

/// Returns the second greatest modulus.
double second_of(Eigen::VectorXd moduli) {
    std::sort(moduli.begin(), moduli.end());
    return moduli[moduli.size() - 2];
}

struct Mode {
    double value;
    Eigen::VectorXd vector;
};

/// Returns the mode with the last of the greatest `count` eigenvalues, to the relative `error`; nothing if a solver of
/// Spectra does not converge. Its start is the same everywhere.
template <class Solver>
std::optional<Mode> last_mode(Solver solver, SortRule which, Eigen::Index count, Eigen::Index most, double error) {
    solver.init();
    if (solver.compute(which, most, error) < count) return std::nullopt;
    return Mode{solver.eigenvalues()[count - 1], solver.eigenvectors().col(count - 1)};
}

std::optional<Mode> greatest_mode(const Matrix& matrix, Eigen::Index count, double error) {
    Product product(matrix);
    return last_mode(Spectra::SymEigsSolver<Product>(product, count, basis), SortRule::LargestAlge, count, restarts,
                     error);
}

Matrix identity_like(const Matrix& matrix) {
    Matrix identity(matrix.rows(), matrix.cols());
    identity.setIdentity();
    return identity;
}

/// Returns λ2, without modulus, and its eigenvector, for more than a few hosts.
std::optional<Mode> second_mode(const Matrix& matrix, double error) {
    // Errors are relative: eigenvalues of 1 + W are not near 0.
    if (auto mode = greatest_mode(matrix + identity_like(matrix), 2, error)) return Mode{mode->value - 1, mode->vector};
    // Eigenvalues crowd below 1, as in long rings; the inverse of (1+ε)·1 - W separates them. Graphs that mix so slowly
    // have small cuts, hence factors with few entries.
    try {
        Inverse inverse(matrix);
        return last_mode(Spectra::SymEigsShiftSolver<Inverse>(inverse, 2, basis, 1 + 1e-8), SortRule::LargestMagn, 2,
                         100, fine);
    } catch (const std::invalid_argument&) {  // no factors
        return std::nullopt;
    }
}

std::optional<double> second_of_symmetric(const Matrix& matrix) {
    if (matrix.rows() <= few) {
        const Eigen::MatrixXd dense = matrix;
        return second_of(
            Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(dense, Eigen::EigenvaluesOnly).eigenvalues().cwiseAbs());
    }
    const Matrix opposite = identity_like(matrix) - matrix;
    auto least = greatest_mode(opposite, 1, fine);
    if (!least) least = greatest_mode(opposite, 1, coarse);
    const auto second = second_mode(matrix, fine);
    if (!second || !least) return std::nullopt;
    return std::max(std::abs(second->value), least->value - 1);
}

double second_of_any(const Matrix& matrix) {
    const Eigen::MatrixXd dense = matrix;
    return second_of(Eigen::EigenSolver<Eigen::MatrixXd>(dense, false).eigenvalues().cwiseAbs());
}

/// Returns an approximate eigenvector to λ2, or nothing.
Eigen::VectorXd second_vector(const Matrix& matrix) {
    if (matrix.rows() <= few) {
        const Eigen::MatrixXd dense = matrix;
        return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(dense).eigenvectors().col(matrix.rows() - 2);
    }
    const auto mode = second_mode(matrix, rough);
    return mode ? mode->vector : Eigen::VectorXd{};
}

}  // namespace

std::optional<double> spectral_gap(const Network& network, const std::vector<std::uint32_t>& factors) {
    if (network.vertices() > network.hosts()) return std::nullopt;
    if (network.hosts() == 1) return 1;
    if (!factors.empty()) return 1 - second_of_cayley_graph(network, factors);
    const bool one_way = network.one_way();
    if (network.hosts() > (one_way ? few : many)) return std::nullopt;
    const Matrix matrix = mixing_matrix(network, one_way);
    const std::optional<double> second = one_way ? second_of_any(matrix) : second_of_symmetric(matrix);
    return second ? std::optional(1 - *second) : std::nullopt;
}

std::vector<std::uint32_t> spectral_order(const Network& network) {
    std::vector<std::uint32_t> order(network.hosts());
    std::iota(order.begin(), order.end(), 0);
    if (network.vertices() < 2 || network.vertices() > many) return order;
    const Matrix matrix = mixing_matrix(network, false);
    // One-way links count for both ends, because the aim is a cut.
    const Matrix symmetric = (matrix + Matrix(matrix.transpose())) / 2;
    const Eigen::VectorXd mode = second_vector(symmetric);
    if (mode.size() == 0) return order;
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return mode[static_cast<Eigen::Index>(a)] < mode[static_cast<Eigen::Index>(b)];
    });
    return order;
}

}  // namespace syncline
