// Several answers at once from one responder: side_by_side URL MODEL N PROMPT [stop]. Prints one line per answer,
// "REASON TOKENS TEXT", and on standard error our own CPU time per token, over all threads. With "stop", the first
// answer is stopped at its first text. The others are stopped once it has ended and each has more text.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "engine/remote/remote_responder.h"

using namespace warpchat;

namespace {

double processor_seconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Answer {
  std::unique_ptr<Generation> generation = {};
  std::string text = {};
  uint32_t tokens = 0;
  std::optional<GenerationEnd> end = {};

  void read() {
    if (end) return;
    std::optional<Event> event = generation->next_event(std::chrono::milliseconds(10));
    while (event) {
      if (const auto* delta = std::get_if<TextDelta>(&*event)) {
        text += delta->text;
        ++tokens;
      }
      if (const auto* e = std::get_if<GenerationEnd>(&*event)) end = *e;
      event = end ? std::nullopt : generation->next_event(std::chrono::milliseconds(0));
    }
  }
};

void stop_in_turn(std::vector<Answer>& answers) {
  while (answers[0].text.empty()) answers[0].read();
  answers[0].generation->stop();
  while (!answers[0].end) answers[0].read();
  for (size_t i = 1; i < answers.size(); ++i) {
    const size_t before = answers[i].text.size();
    while (answers[i].text.size() <= before && !answers[i].end) answers[i].read();
    answers[i].generation->stop();
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  Endpoint endpoint;
  endpoint.url = base_url(argv[1]);
  RemoteResponder responder(endpoint, {argv[2]});
  AnswerOptions options;
  options.sampling = servers_own_sampling();
  const double before = processor_seconds();
  std::vector<Answer> answers(static_cast<size_t>(std::atoi(argv[3])));
  for (Answer& answer : answers)
    answer.generation = responder.start(std::vector<Message>{{.role = "user", .content = argv[4]}}, options);
  if (argc > 5) stop_in_turn(answers);
  uint32_t tokens = 0;
  for (bool all = false; !all;) {
    all = true;
    for (Answer& answer : answers) {
      answer.read();
      all = all && answer.end;
    }
  }
  for (const Answer& answer : answers) {
    tokens += answer.tokens;
    std::printf("%d %u %s%s\n", static_cast<int>(answer.end->reason), answer.tokens, answer.text.substr(0, 40).c_str(),
                answer.end->error.c_str());
  }
  std::fprintf(stderr, "%.1f us a token\n", 1e6 * (processor_seconds() - before) / std::max(tokens, 1u));
}
