#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

/// Slowdown of computation by concurrent exchanges of the same rank, whose kernels take multiprocessors and memory
/// bandwidth. While exchanges are in flight, waiting for peers included, computation runs at a fraction of its speed,
/// which depends on the kind of exchange: NCCL runs collectives in several thread blocks and a message between two
/// ranks in one or two (NVIDIA/nccl, issues 1424 and 1433). With both kinds in flight the lower speed applies. Left
/// out: dependence on the size of the exchange and on the kernel that computes, the slowdown of the exchange itself.
namespace syncline {

/// Kind of an exchange: among all ranks of a group; between pairs of processes (transfers between stages, halos,
/// gossip, and a parameter server's pushes and pulls); or between hosts, without kernels on the devices (negotiation).
enum class ExchangeClass : std::uint8_t { collective, point_to_point, host };
inline constexpr std::size_t exchange_classes = 2;  ///< those with kernels on the devices

/// Part of its speed that computation keeps.
struct SpeedBesideExchange {
    std::array<double, exchange_classes> of{1, 1};  ///< by ExchangeClass

    constexpr SpeedBesideExchange() = default;
    /// Applies to every kind.
    constexpr SpeedBesideExchange(double both) : of{both, both} {}

    bool slows() const { return of[0] < 1 || of[1] < 1; }
    /// Returns the speed beside this number of exchanges of each kind.
    double beside(const std::array<std::uint32_t, exchange_classes>& exchanges) const {
        return std::min(exchanges[0] > 0 ? of[0] : 1, exchanges[1] > 0 ? of[1] : 1);
    }

    bool operator==(const SpeedBesideExchange&) const = default;
};

}  // namespace syncline
