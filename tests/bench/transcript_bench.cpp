// Cost of a frame of the window's transcript during scrolling: CPU time of the thread, without the GPU's part. Distant
// layouts are freed and rebuilt, so the second pass costs as much as the first.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "tests/gui/headless_view.h"

namespace warpchat::gui {
namespace {

double cpu_milliseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

std::string code_block(int n) {
  std::string text = "```cpp\n";
  for (int line = 0; line < 12; ++line)
    text += "  if (value_" + std::to_string(n + line) + " > 0x1F) return \"text\" + std::to_string(n);  // a comment\n";
  return text + "```\n\n";
}

std::string formulas(int n) {
  const std::string k = std::to_string(n);
  return "Of $x_{" + k + "}^2$ and \\(\\sqrt{a_" + k + "}\\) follows\n\n$$\\sum_{i=1}^{" + k +
         "} \\frac{x_i^2 + \\alpha}{\\sqrt{b}} = \\begin{pmatrix} a & b \\\\ c & " + k + " \\end{pmatrix}$$\n\n" +
         "with $\\hat{y} \\le \\int_0^1 f(x)\\,dx$ and $z_{" + k + "} \\in \\mathbb{R}$.\n\n";
}

struct Scene {
  const char* name;
  int n_messages, n_code, n_formulas;  // code blocks, and groups of five formulas, in total
};
constexpr Scene kScenes[] = {{"200 code blocks", 40, 200, 0},
                             {"500 formulas", 40, 0, 100},
                             {"200 code blocks and 500 formulas", 40, 200, 100},
                             {"2,000 messages", 2000, 0, 0}};

void fill(const Scene& scene, ChatState& state) {
  for (int i = 0; i < scene.n_messages; ++i) {
    std::string text =
        "Answer " + std::to_string(i) + ", of some words that make a line or two of plain text here.\n\n";
    for (int n = i * scene.n_code / scene.n_messages; n < (i + 1) * scene.n_code / scene.n_messages; ++n)
      text += code_block(n);
    for (int n = i * scene.n_formulas / scene.n_messages; n < (i + 1) * scene.n_formulas / scene.n_messages; ++n)
      text += formulas(n);
    state.open.messages.push_back(message_of(static_cast<uint64_t>(i) + 1, "assistant", text));
  }
}

void scroll_through(HeadlessView& view, const char* what) {
  std::vector<double> frames;
  view.view.scroll_pages(-1e6f);
  view.frame();
  do {
    ImGui::GetIO().MouseWheel = -1;
    const double began = cpu_milliseconds();
    view.frame();
    frames.push_back(cpu_milliseconds() - began);
  } while (!view.view.at_end() && frames.size() < 100000);
  std::sort(frames.begin(), frames.end());
  double all = 0;
  for (const double frame : frames) all += frame;
  const auto at = [&](double share) {
    return frames[static_cast<size_t>(share * static_cast<double>(frames.size() - 1))];
  };
  std::printf("  %-12s %6zu frames: mean %.3f ms, median %.3f, 99%% %.3f, longest %.3f\n", what, frames.size(),
              all / static_cast<double>(frames.size()), at(0.5), at(0.99), frames.back());
}

}  // namespace
}  // namespace warpchat::gui

int main() {
  using namespace warpchat::gui;
  for (const Scene& scene : kScenes) {
    HeadlessView view;
    fill(scene, view.state);
    view.move(450, 300);
    std::printf("%s\n", scene.name);
    scroll_through(view, "first time");
    scroll_through(view, "again");
  }
}
