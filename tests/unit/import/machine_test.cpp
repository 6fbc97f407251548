#include <fmt/format.h>

#include <string>
#include <vector>

#include "sim/config/import_question.hpp"
#include "sim/document/yaml_text.hpp"
#include "tests/catch.hpp"
#include "tests/unit/stores.hpp"

// Files about one node, written anew, as platforms.

using namespace syncline;
using namespace syncline::config;
using Catch::Matchers::ContainsSubstring;

namespace {

/// What `syncline import` writes for a file.
struct Written {
    Library library;
    Node platform;
    std::string notes;

    Written(const std::string& name, const std::string& text, std::vector<std::string> assignments) {
        const test::Scratch folder;
        const std::string file = (folder.path / name).string();
        test::write_bytes(file, text);
        const ImportAnswer answer = import_files({.files = {file}, .assignments = std::move(assignments)});
        CHECK(answer.kind == "platform");
        platform = library.parse("written.yaml", answer.text, "");
        for (const Diagnostic& note : answer.notes) notes += note.message + "\n";
    }

    std::string operator[](const char* key) const { return text(platform.find(key)); }
    std::string node(const char* key) const { return text(platform.find("per_node")->find(key)); }

private:
    static std::string text(const Node* value) { return value ? flow_text(*value) : ""; }
};

std::string error_of(const std::string& name, const std::string& text, std::vector<std::string> assignments) {
    try {
        Written(name, text, std::move(assignments));
    } catch (const ConfigError& error) {
        const Diagnostic& first = error.diagnostics().front();
        return fmt::format("{}:{}: {} ({})", first.where.line, first.where.column, first.message, first.hint);
    }
    return "";
}

const std::string h100 = "platform.device=h100-sxm";

/// Eight GPUs on switches, a NIC beside each, and one more, as a terminal prints it.
std::string hgx(const std::string& links) {
    std::string text = "\x1b[4m";
    for (int i = 0; i < 8; ++i) text += fmt::format("\tGPU{}", i);
    for (int i = 0; i < 9; ++i) text += fmt::format("\tNIC{}", i);
    text += "\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n";
    const auto path = [](int a, int b) { return (a < 4) != (b < 4) ? "SYS" : a == b ? "PIX" : "NODE"; };
    for (int row = 0; row < 17; ++row) {
        text += row < 8 ? fmt::format("GPU{}", row) : fmt::format("NIC{}", row - 8);
        for (int column = 0; column < 17; ++column) {
            const bool gpus = row < 8 && column < 8, nics = row >= 8 && column >= 8;
            const int a = row % 8 + row / 16 * 9, b = column % 8 + column / 16 * 9;
            text += '\t' + (row == column ? " X " : gpus ? links : std::string(nics && a == b ? "NODE" : path(a, b)));
        }
        text += row < 8 ? fmt::format("\t{}\t{}\t\tN/A\n", row < 4 ? "0-47" : "48-95", row / 4) : "\t\t\t\t\n";
    }
    return text +
           "\nLegend:\n\n  X    = Self\n  NV#  = bonded NVLinks\n\nNIC Legend:\n\n  NIC7: mlx5_7\n  NIC8: mlx5_8\n";
}

constexpr const char* four = R"(root@node:~# nvidia-smi topo -m
        GPU0    GPU1    GPU2    GPU3    NIC0    NIC1    CPU Affinity    NUMA Affinity   GPU NUMA ID
GPU0     X      NV6     NV6     NV6     PIX     SYS     0-15    0               N/A
GPU1    NV6      X      NV6     NV6     SYS     SYS     16-31   1               N/A

GPU2    NV6     NV6      X      NV6     SYS     PIX     32-47   2               N/A
GPU3    NV6     NV6     NV6      X      SYS     SYS     48-63   3               N/A
NIC0    PIX     SYS     SYS     SYS      X      SYS
NIC1    SYS     SYS     PIX     SYS     SYS      X

root@node:~#
)";

}  // namespace

TEST_CASE("a matrix with more links in a row than a GPU has shows switches", "[memory]") {
    // 7 cells of 18 are more than 18, so 18 links lead to switches: 18 × 25 GB/s. NIC8 is at no GPU.
    const Written node("topo.txt", hgx("NV18"), {h100});
    CHECK(node["nodes"] == "1");
    CHECK(node["device"] == "h100-sxm");
    CHECK(node["transport"] == "nccl-h100-nodes");
    CHECK(node["fabric"].empty());
    CHECK(node.node("devices") == "8");
    CHECK(node.node("links") == "{pattern: switch, bandwidth: 450 GBps, latency: none, reduces: true}");
    CHECK(node.node("nics") == "8");
    CHECK(node.node("affinity").empty());
    CHECK_THAT(node.notes, ContainsSubstring("left out: NIC8 (mlx5_8), nearest to no GPU"));
    CHECK_THAT(node.notes, ContainsSubstring("so this is one node"));

    const Written b200("topo.txt", hgx("NV18"), {"platform.device=b200"});  // 18 × 50 GB/s
    CHECK(b200.node("links") == "{pattern: switch, bandwidth: 900 GBps, latency: none, reduces: true}");
    const Written a100("topo.txt", hgx("NV12"), {"platform.device=a100-sxm4-80gb"});  // 12 × 25 GB/s, without NVLS
    CHECK(a100.node("links") == "{pattern: switch, bandwidth: 300 GBps, latency: none}");
    const Written h800("topo.txt", hgx("NV8"), {h100});  // 8 × 25 GB/s
    CHECK(h800.node("links") == "{pattern: switch, bandwidth: 200 GBps, latency: none, reduces: true}");
    CHECK_THAT(h800.notes, ContainsSubstring("8 NVLinks here, of 18"));
}

TEST_CASE("a matrix with as many links in a row as a GPU has shows pairs") {
    // 3 × 6 = 18 links of an H100: 6 × 25 GB/s for each pair. GPU1 and GPU3 are as far from both NICs.
    const Written node("topo.txt", four, {h100});
    CHECK(node.node("links") == "{pattern: all-to-all, bandwidth: 150 GBps, latency: none}");
    CHECK(node.node("nics") == "2");
    CHECK(node.node("affinity").empty());  // 0, 0, 1, 1
    // An A100 has 12 links, so these would be six to switches.
    CHECK(Written("topo.txt", four, {"platform.device=a100-sxm4-80gb"}).node("links") ==
          "{pattern: switch, bandwidth: 150 GBps, latency: none}");
    std::string quoted;
    for (const char c : std::string("# ") + four) quoted += c == '\n' ? std::string("\n# ") : std::string(1, c);
    CHECK(Written("topo.txt", quoted, {h100}).node("links") == node.node("links"));
}

TEST_CASE("a matrix with links between some GPUs shows a mesh beside PCIe") {
    // GPU 0 to 2 are below the same PCIe switches, GPU 3 on another socket. 16 lanes of PCIe 4: 24 GB/s, as NCCL
    // counts.
    const Written node("topo.txt",
                       "\tGPU0\tGPU1\tGPU2\tGPU3\tmlx5_0\tmlx5_1\tCPU Affinity\n"
                       "GPU0\t X \tNV4\tPXB\tSOC\tPHB\tSOC\t0-23\n"
                       "GPU1\tNV4\t X \tPXB\tSOC\tPHB\tSOC\t0-23\n"
                       "GPU2\tPXB\tPXB\t X \tSOC\tPHB\tSOC\t0-23\n"
                       "GPU3\tSOC\tSOC\tSOC\t X \tSOC\tPIX\t24-47\n"
                       "mlx5_0\tPHB\tPHB\tPHB\tSOC\t X \tSOC\n"
                       "mlx5_1\tSOC\tSOC\tSOC\tPIX\tSOC\t X \n",
                       {"platform.device=a100-sxm4-40gb"});
    CHECK(node.node("links") ==
          "{pattern: mesh, pairs: [0-1x4], bandwidth: 25 GBps, latency: 700 ns, pcie: {bandwidth: 24 GBps, latency: "
          "500 ns}, "
          "devices_per_switch: 3}");
    CHECK(node.node("nics") == "2");
    CHECK(node.node("affinity") == "[0, 0, 0, 1]");
    CHECK(node["transport"].empty());
    CHECK_THAT(node.notes, ContainsSubstring("left out: the link between sockets"));
}

TEST_CASE("the hybrid cube mesh of a DGX-1 is that of our preset") {
    const std::vector<std::pair<int, int>> pairs{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}, {4, 5}, {4, 6},
                                                 {4, 7}, {5, 6}, {5, 7}, {6, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
    std::string text = "GPU0 GPU1 GPU2 GPU3 GPU4 GPU5 GPU6 GPU7 mlx5_0 mlx5_2 mlx5_1 mlx5_3 CPU Affinity\n";
    for (int row = 0; row < 8; ++row) {
        text += fmt::format("GPU{}", row);
        for (int column = 0; column < 8; ++column) {
            const auto pair = std::pair(std::min(row, column), std::max(row, column));
            const bool linked = std::find(pairs.begin(), pairs.end(), pair) != pairs.end();
            text += row == column ? " X" : linked ? " NV1" : (row < 4) == (column < 4) ? " PHB" : " SOC";
        }
        for (int nic = 0; nic < 4; ++nic) text += nic == row / 2 ? " PIX" : nic / 2 == row / 4 ? " PHB" : " SOC";
        text += " 0-19\n";
    }
    const Written node("topo.txt", text, {"platform.device=p100-sxm2"});
    // Two GPUs and a NIC below each PCIe switch. A P100's NVLink has 20 GB/s, PCIe 3 has 12.
    CHECK(node.node("links") ==
          "{pattern: mesh, pairs: [0-1, 0-2, 0-3, 0-4, 1-2, 1-3, 1-5, 2-3, 2-6, 3-7, 4-5, 4-6, 4-7, 5-6, 5-7, 6-7], "
          "bandwidth: 20 GBps, latency: 700 ns, pcie: {bandwidth: 12 GBps, latency: 500 ns}, devices_per_switch: 2}");
    CHECK(node.node("nics") == "4");
    CHECK(node.node("affinity").empty());
}

TEST_CASE("a matrix without NVLinks shows PCIe, and says if these may be hidden") {
    const std::string text =
        "GPU0 GPU1 GPU2 GPU3\n"
        "GPU0 X PIX SYS SYS\n"
        "GPU1 PIX X SYS SYS\n"
        "GPU2 SYS SYS X PXB\n"
        "GPU3 SYS SYS PXB X\n";
    const Written l40s("topo.txt", text, {"platform.device=l40s"});
    CHECK(l40s.node("links") == "{pattern: pcie, bandwidth: 24 GBps, latency: 500 ns, devices_per_switch: 2}");
    CHECK_THAT(l40s.notes, !ContainsSubstring("topo -mp") && ContainsSubstring("the file has no NICs"));
    const Written h100s("topo.txt", text, {h100});
    CHECK(h100s.node("links") == "{pattern: pcie, bandwidth: 48 GBps, latency: 500 ns, devices_per_switch: 2}");
    CHECK_THAT(h100s.notes, ContainsSubstring("the file has no NVLinks, and 'h100-sxm' may have 18"));

    const Written one("topo.txt", "GPU0 CPU Affinity\nGPU0 X 0-7\n", {h100});
    CHECK(one.node("devices") == "1");
    CHECK(one.node("links").empty());
}

TEST_CASE("a GPU uses the nearest port, and ports that work together are one") {
    // Both GPUs have the same two NICs below PCIe switches: one for each.
    const Written each("topo.txt", "GPU0 GPU1 NIC0 NIC1 CPU Affinity\nGPU0 X NV12 PXB PXB\nGPU1 NV12 X PXB PXB\n",
                       {"platform.device=a100-sxm4-80gb"});
    CHECK(each.node("nics") == "2");
    CHECK(each.node("affinity").empty());
    // Two NICs for each GPU, in another order.
    const Written two("topo.txt",
                      "GPU0 GPU1 NIC0 NIC1 NIC2 NIC3 CPU Affinity\n"
                      "GPU0 X NV12 SYS SYS PIX PIX\nGPU1 NV12 X PIX PIX SYS SYS\n",
                      {"platform.device=a100-sxm4-80gb"});
    CHECK(two.node("nics") == "2");
    CHECK(two.node("affinity") == "[1, 0]");
    CHECK_THAT(two.notes, ContainsSubstring("each port stands for 2 NICs"));
}

TEST_CASE("wrong matrices are errors with a place") {
    const auto error = [](const std::string& text) { return error_of("topo.txt", text, {h100}); };
    const std::string head = "GPU0 GPU1 CPU Affinity\n";
    CHECK_THAT(error(head + "GPU0 X NV4\nGPU1 NV5 X\n"),
               ContainsSubstring("3:6: GPU1 to GPU0 is 'NV5' here, but 'NV4' in line 2"));
    CHECK_THAT(error(head + "GPU0 X NV4\n"), ContainsSubstring("1:6: the row of GPU1 is missing"));
    CHECK_THAT(error(head + "GPU0 X NV4\nGPU1 NV4"),
               ContainsSubstring("3:6: the row of GPU1 ends before the column of GPU1"));
    CHECK_THAT(error(head + "GPU0 X NVL\n"), ContainsSubstring("2:8: 'NVL' is no connection (NV and a number"));
    CHECK_THAT(error(head + "GPU0 NV4 X\n"), ContainsSubstring("2:6: the row of GPU0 has 'NV4' in the column of GPU0"));
    CHECK_THAT(error(head + "GPU0 X NV4\nGPU2 NV4 X\n"), ContainsSubstring("3:1: GPU2 is no column of this matrix"));
    CHECK_THAT(error("GPU0 GPU0 CPU Affinity\nGPU0 X X\n"), ContainsSubstring("1:6: GPU0 is listed twice"));
    CHECK_THAT(error(hgx("NV20")), ContainsSubstring("GPU0 has 20 NVLinks here, and 'h100-sxm' has 18"));
    std::string many = "GPU0";
    for (int i = 1; i < 300; ++i) many += fmt::format(" GPU{}", i);
    CHECK_THAT(error(many), ContainsSubstring("there are too many columns"));

    CHECK_THAT(error_of("topo.txt", four, {}),
               ContainsSubstring("2:9: the file does not say which GPU this is (`--set platform.device=…`"));
    const std::string own = "platform.device={name: own, flops: 1 Tflops, memory_bandwidth: 1 TBps}";
    CHECK_THAT(error_of("topo.txt", four, {own}),
               ContainsSubstring(
                   "it is not known how fast an NVLink of 'own' is (`--set platform.per_node.links.bandwidth=…`"));
    CHECK(Written("topo.txt", four, {own, "platform.per_node.links.bandwidth=99 GBps"}).node("links") ==
          "{pattern: all-to-all, latency: 700 ns, bandwidth: 99 GBps}");
}

TEST_CASE("a preset has what a node's file does not say") {
    const Written node("topo.txt", hgx("NV8"), {"platform=dgx-h100", "platform.nodes=4"});
    CHECK(node["nodes"] == "4");
    CHECK(node["device"] == "h100-sxm");
    CHECK(node["transport"] == "nccl-h100-nodes");
    CHECK_THAT(node["fabric"], ContainsSubstring("topology: rails"));
    CHECK(node.node("price_per_hour") == "80");
    CHECK(node.node("links") == "{pattern: switch, bandwidth: 200 GBps, latency: none, reduces: true}");

    CHECK_THAT(error_of("topo.txt", four, {"platform=dgx-h100"}), ContainsSubstring("8 rails for nodes with 2 ports"));
    CHECK_THAT(error_of("topo.txt", four, {h100, "platform.nodes=2"}), ContainsSubstring("2 nodes need a 'fabric'"));
    const Written many("topo.txt", four,
                       {h100, "platform.fabric={topology: star, bandwidth: 400 Gbps, latency: 1 us}"});
    CHECK(many["nodes"].empty());
}

namespace {

std::string pci(int bus, const char* of, const char* product, const char* speed, const std::string& inside) {
    return fmt::format(R"(<pci busid="0000:{:02x}:00.0" class="{}" {} link_speed="{}" link_width="16">{}</pci>)", bus,
                       of, product, speed, inside);
}

constexpr const char* is_h100 = R"(vendor="0x10de" device="0x2330")";

std::string port(int number, int Mbps) {
    return fmt::format(R"(<nic><net name="mlx5_{}" dev="{}" speed="{}" port="1" guid="0x{}" gdr="1"/></nic>)", number,
                       number, Mbps, number);
}

/// Two GPUs on switches, each below a PCIe switch with a NIC; ranks are against the order of the file.
std::string nccl(const char* nic_speed, int Mbps) {
    std::string text = "<system version=\"1\">\n";
    for (int i = 0; i < 2; ++i) {
        const std::string gpu =
            fmt::format(R"(<gpu dev="{}" sm="90" rank="{}" gdr="1">)", i, 1 - i) +
            R"(<nvlink target="0000:05:00.0" count="9" tclass="0x068000"/><nvlink target="0000:06:00.0" count="9" tclass="0x068000"/></gpu>)";
        text += fmt::format(R"(<cpu numaid="{}" host_hash="0x1">)", i) +
                pci(16 * i + 16, "0x060400", "", "32.0 GT/s PCIe",
                    pci(16 * i + 17, "0x030200", is_h100, "32.0 GT/s PCIe", gpu) +
                        pci(16 * i + 18, "0x020700", "", nic_speed, port(i, Mbps))) +
                "</cpu>\n";
    }
    return text + "</system>\n";
}

}  // namespace

TEST_CASE("NCCL's topology says the device, the links and the ports' rate") {
    const Written node("nccl.xml", nccl("32.0 GT/s PCIe", 400000), {});
    CHECK(node["device"] == "h100-sxm");
    CHECK(node["nodes"].empty());
    CHECK(node["fabric"] == "{topology: star, bandwidth: 400 Gbps, latency: 1 us}");
    CHECK(node.node("links") ==
          "{pattern: switch, bandwidth: 450 GBps, latency: none, reduces: true}");  // (9 + 9) × 25
    CHECK(node.node("nics") == "2");
    CHECK(node.node("affinity") == "[1, 0]");  // rank 0 is the second GPU of the file
    CHECK(node.node("nic_link").empty());      // 63 GB/s of PCIe 5 are more than 50 GB/s
    CHECK_THAT(node.notes, ContainsSubstring("the network is chosen"));

    // 16 lanes of PCIe 3 have 15.75 GB/s, of which NCCL counts 12; the port has 25 GB/s.
    const Written narrow("nccl.xml", nccl("8.0 GT/s PCIe", 200000), {});
    CHECK(narrow.node("nic_link") == "{bandwidth: 12 GBps}");
    CHECK(narrow["fabric"] == "{topology: star, bandwidth: 200 Gbps, latency: 1 us}");
    CHECK_THAT(narrow.notes, ContainsSubstring("slots of ports are narrower"));

    const Written unknown("nccl.xml", nccl("32.0 GT/s PCIe", 0), {});
    CHECK(unknown["nodes"] == "1");
    CHECK_THAT(unknown.notes, ContainsSubstring("does not say how fast a NIC is"));
}

TEST_CASE("NCCL's topology of direct links shows pairs or a mesh, also RCCL's") {
    // GPU0 - GPU1 with two links and GPU2 alone, each at another host bridge: V100, 25 GB/s. PCIe 3: 12 GB/s.
    const auto gpu = [](int i, const std::string& links) {
        return fmt::format("<cpu numaid=\"{}\">", i) +
               pci(i + 1, "0x030200", R"(vendor="0x10de" device="0x1db1")", "8 GT/s",
                   fmt::format(R"(<gpu dev="{}" sm="70" rank="{}">{}</gpu>)", i, i, links)) +
               "</cpu>";
    };
    const auto link = [](int to) {
        return fmt::format(R"(<nvlink target="0000:{:02x}:00.0" count="2" tclass="0x030200"/>)", to + 1);
    };
    const Written mesh("nccl.xml", "<system>" + gpu(0, link(1)) + gpu(1, link(0)) + gpu(2, "") + "</system>", {});
    CHECK(mesh["device"] == "v100-sxm2");
    CHECK(mesh.node("links") ==
          "{pattern: mesh, pairs: [0-1x2], bandwidth: 25 GBps, latency: 700 ns, pcie: {bandwidth: 12 GBps, latency: "
          "500 ns}, "
          "devices_per_switch: 1}");
    CHECK_THAT(error_of("nccl.xml", "<system>" + gpu(0, link(1)) + gpu(1, "") + "</system>", {}),
               ContainsSubstring("GPU 0000:02:00.0 and GPU 0000:01:00.0 have 0 and 2 links to each other"));

    const auto amd = [](int i) {
        return pci(i + 1, "0x120000", R"(vendor="0x1002" device="0x74a1")", "32 GT/s",
                   fmt::format(
                       R"(<gpu dev="{}" sm="304" gcn="942" rank="{}"><xgmi target="0000:{:02x}:00.0" count="1"/></gpu>)",
                       i, i, 2 - i)) +
               pci(i + 17, "0x020000", "", "16 GT/s", port(i, 200'000'000));
    };
    const Written rccl("rccl.xml", "<system version=\"2\"><cpu>" + amd(0) + amd(1) + "</cpu></system>", {});
    CHECK(rccl["device"] == "mi300x");
    CHECK(rccl.node("links") == "{pattern: all-to-all, bandwidth: 64 GBps, latency: 700 ns}");
    CHECK(rccl["nodes"] == "1");
}

TEST_CASE("a file for NCCL_TOPO_FILE leaves the links to the user") {
    const std::string text =
        R"(<system version="1"><cpu numaid="0">)"
        R"(<pci busid="0001:00:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"/>)"
        R"(<pci busid="0002:00:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"/>)"
        R"(<pci busid="0101:00:00.0" class="0x020700" link_speed="16 GT/s" link_width="16"/></cpu></system>)";
    CHECK_THAT(error_of("topo.xml", text, {}), ContainsSubstring("the file does not say which GPU this is"));
    const std::string device = "platform.device=v100-sxm2";
    CHECK_THAT(error_of("topo.xml", text, {device}), ContainsSubstring("the file says nothing of NVLinks"));
    const std::string links = "{pattern: all-to-all, bandwidth: 50 GBps, latency: none}";
    const Written node("topo.xml", text, {device, "platform.per_node.links=" + links});
    CHECK(node.node("links") == links);
    CHECK(node.node("devices") == "2");
    CHECK(node.node("nics") == "1");
}

TEST_CASE("wrong topologies of NCCL are errors with a place") {
    const auto error = [](const std::string& text) { return error_of("nccl.xml", text, {h100}); };
    CHECK_THAT(error("<system></system>"), ContainsSubstring("1:1: the file has no GPUs"));
    CHECK_THAT(error("<system><cpu><nvlink count=\"1\"/></cpu></system>"),
               ContainsSubstring("1:14: <nvlink> is not in a <gpu>"));
    CHECK_THAT(error("<system>\n<gpu sm=\"ninety\"/></system>"),
               ContainsSubstring("2:1: 'sm' is 'ninety', not a number up to 1000"));
    CHECK_THAT(error("<system><gpu>"), ContainsSubstring("this is not XML"));
    CHECK_THAT(error("<system><gpu/><gpu><nvlink target=\"x\" tclass=\"0x068000\"/></gpu></system>"),
               ContainsSubstring("some GPUs have links to switches"));
    std::string gpus = "<system>";
    for (int i = 0; i < 300; ++i) gpus += "<gpu/>";
    CHECK_THAT(error(gpus + "</system>"), ContainsSubstring("there are too many GPUs"));
    CHECK_THAT(error("<!DOCTYPE system [<!ENTITY a \"b\">]>\n<system/>"), ContainsSubstring("is not allowed"));
}

TEST_CASE("hwloc's lstopo says the device and the links between GPUs") {
    const auto object = [](const std::string& attributes, const std::string& inside) {
        return "<object " + attributes + ">" + inside + "</object>\n";
    };
    const auto gpu = [&](int number, const char* speed) {
        return object(
            fmt::format(
                R"(type="PCIDev" gp_index="{}" pci_busid="0000:{}:00.0" pci_type="0302 [10de:20b2] [10de:1463] a1 00" pci_link_speed="{}")",
                number, number, speed),
            fmt::format(R"(<object type="OSDev" gp_index="{}" name="cuda0" osdev_type="5"/>)", number + 50));
    };
    const std::string nic = object(
        R"(type="PCIDev" gp_index="30" pci_type="0207 [15b3:101b] [15b3:0007] 00 00" pci_link_speed="31.507692")",
        R"(<object type="OSDev" name="ib0" osdev_type="2"/><object type="OSDev" name="mlx5_0" osdev_type="3"/>)");
    const std::string vga = object(R"(type="PCIDev" gp_index="31" pci_type="0300 [1a03:2000] [1a03:2000] 41 00")", "");
    const std::string domain = R"(type="Bridge" bridge_type="0-1")";
    const auto file = [&](const std::string& distances) {
        return "<?xml version=\"1.0\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">\n" +
               object(R"(type="Machine" gp_index="1")",
                      object(R"(type="Package" gp_index="2")",
                             object(domain, object(R"(type="Bridge" bridge_type="1-1")", gpu(20, "31.507692") + nic))) +
                          object(R"(type="Package" gp_index="3")", object(domain, gpu(21, "3.938462") + vga))) +
               distances + "</topology>\n";
    };
    // 300 GB/s are the 12 links of an A100.
    const Written linked(
        "lstopo.xml",
        file(R"(<distances2hetero nbobjs="2" kind="25" name="NVLinkBandwidth"><indexes>OSDev:70 OSDev:71</indexes>)"
             R"(<u64values>1000000 300000 300000 1000000</u64values></distances2hetero>)"),
        {});
    CHECK(linked["device"] == "a100-sxm4-80gb");
    CHECK(linked.node("links") == "{pattern: all-to-all, bandwidth: 300 GBps, latency: none}");
    CHECK(linked.node("nics") == "1");
    CHECK(linked["nodes"] == "1");
    CHECK_THAT(linked.notes, ContainsSubstring("which is that of an idle GPU"));

    // Six switches with two links each: 6 × 50 GB/s.
    std::string ends = "OSDev:70 OSDev:71", values;
    for (int i = 0; i < 6; ++i) ends += fmt::format(" PCIDev:{}", 80 + i);
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) values += (i < 2) != (j < 2) ? "50000 " : "0 ";
    const Written switched("lstopo.xml",
                           file("<distances2hetero name=\"NVLinkBandwidth\"><indexes>" + ends +
                                "</indexes><u64values>" + values + "</u64values></distances2hetero>"),
                           {});
    CHECK(switched.node("links") == "{pattern: switch, bandwidth: 300 GBps, latency: none}");

    CHECK_THAT(error_of("lstopo.xml", file(""), {}), ContainsSubstring("the file says nothing of NVLinks"));
    // Cards without NVLink need none: 31.5 GB/s of PCIe 4 are 24, as NCCL counts.
    const Written cards("lstopo.xml", file(""), {"platform.device=l40s"});
    CHECK(cards.node("links") == "{pattern: pcie, bandwidth: 24 GBps, latency: 500 ns, devices_per_switch: 1}");
    CHECK_THAT(error_of("lstopo.xml", "<topology version=\"1.0\"/>", {}),
               ContainsSubstring("this is not hwloc's format 2 or 3"));
    CHECK_THAT(
        error_of(
            "lstopo.xml",
            file("<distances2 name=\"NVLinkBandwidth\"><indexes>1 2</indexes><u64values>1 2</u64values></distances2>"),
            {}),
        ContainsSubstring("2 NVLinks' bandwidths are not 2 times 2"));
}
