#include "sim/base/interrupt.hpp"

#include <csignal>
#include <initializer_list>

namespace syncline {

namespace {

volatile std::sig_atomic_t flag = 0;

void set_handler(void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

}  // namespace

void catch_interrupts() {
    set_handler([](int) { flag = 1; });
}

void release_interrupts() {
    set_handler(SIG_DFL);
}

bool interrupted() {
    return flag != 0;
}

}  // namespace syncline
