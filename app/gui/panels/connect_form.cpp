// Enter in any field connects.
#include "app/gui/panels/connect_form.h"

#include "app/gui/widgets/numbers.h"
#include "models/ascii.h"

namespace warpchat::gui {

namespace {
constexpr float kFieldHeight = 36, kLabelHeight = 26, kGap = 8, kButtonHeight = 36, kMaxHeight = 2000;  // at scale 1
}

uint64_t next_request(const ChatState& state) { return state.served.request + 1; }

void ConnectForm::open(Frame& f, const std::string& address) {
  is_open_ = true;
  request_ = 0;
  asks_for_model_ = false;
  address_.buffer.set(address);
  key_.buffer.set("");
  model_.buffer.set("");
  f.ui.set_focus("server_address");
  if (!address.empty()) connect(f);
}

void ConnectForm::connect(Frame& f) {
  const std::string address(trimmed(address_.text(), " \t\n"));
  if (address.empty()) return f.ui.set_focus("server_address");
  request_ = next_request(f.state);
  f.actions.push(ConnectServer{.endpoint = address,
                               .key = std::string(trimmed(key_.text(), " \t\n")),
                               .model = std::string(trimmed(model_.text(), " \t\n")),
                               .request = request_});
}

bool ConnectForm::draw(Frame& f, Rect rect) {
  const ServedModels& served = f.state.served;
  const bool is_mine = request_ != 0 && served.request == request_,
             runs = waits(f.state) || (is_mine && served.running);
  const bool has_answered = is_mine && !runs && served.fault.empty();
  if (has_answered) {
    key_.buffer.set("");
    return close();
  }
  Ui& ui = f.ui;
  ScrollArea area("connect", rect);  // the window may be small
  const float top = rect.y;
  rect = {rect.x, rect.y - area.scroll_y(), area.width() - ui.px(2), ui.px(kMaxHeight)};
  ui.label_in(rect.cut_top(ui.px(30)), "Connect to a server", {ui.theme->text, 1.05f, Face::kBold});
  const std::string about =
      "Any server with an OpenAI-compatible interface: Ollama, LM Studio, vLLM, llama-server, a hosted service.";
  const TextLook dim{ui.theme->dim_text, 0.88f};
  rect.cut_top(ui.paragraph({rect.x, rect.y}, about, dim, rect.width) + ui.px(kGap));
  bool submitted =
      draw_field(f, rect, address_, "server_address", "Address",
                 {.placeholder = "http://127.0.0.1:11434, gpu-box:8000 or api.example.com", .text = 0.95f});
  submitted |= draw_field(
      f, rect, key_, "server_key", "API key (optional)",
      {.placeholder = "Stored in your keyring, or in a file that only you can read", .secret = true, .text = 0.95f});
  if (is_mine && !runs) asks_for_model_ |= served.lists_none;
  if (asks_for_model_)
    submitted |= draw_field(f, rect, model_, "server_model", "Model",
                            {.placeholder = "Its name at this server, which does not list its models", .text = 0.95f});
  rect.cut_top(ui.px(kGap));
  if (is_mine && !runs) draw_fault(f, rect, served);
  draw_buttons(f, rect.cut_top(ui.px(kButtonHeight)), runs);
  area.set_content_height(rect.y + area.scroll_y() - top + ui.px(2));
  if (submitted && !runs) connect(f);
  return false;
}

bool ConnectForm::draw_field(Frame& f, Rect& rect, TextField& field, const char* name, const char* label,
                             const FieldLook& look) {
  Ui& ui = f.ui;
  ui.heading_in(rect.cut_top(ui.px(kLabelHeight)), label);
  const FieldResult result = field.draw(ui, name, rect.cut_top(ui.px(kFieldHeight)), look);
  rect.cut_top(ui.px(kGap));
  return result.submitted;
}

void ConnectForm::draw_fault(Frame& f, Rect& rect, const ServedModels& served) {
  const TextLook look{f.ui.theme->error, 0.9f};
  const float height = f.ui.paragraph({rect.x, rect.y}, full_sentence(served.fault), look, rect.width);
  f.ui.mark("server_fault", rect.cut_top(height));
  rect.cut_top(f.ui.px(2 * kGap));
}

void ConnectForm::draw_buttons(Frame& f, Rect rect, bool runs) {
  Ui& ui = f.ui;
  const ButtonLook connects{.text = runs ? "Connecting …" : "Connect",
                            .kind = ButtonKind::kPrimary,
                            .enabled = !runs && !address_.text().empty()};
  const ButtonLook cancel{.text = "Cancel", .kind = ButtonKind::kOutlined};
  if (ui.button("server_connect", rect.cut_left(ui.button_width(connects)), connects)) connect(f);
  rect.cut_left(ui.px(kGap));
  if (!ui.button("server_cancel", rect.cut_left(ui.button_width(cancel)), cancel)) return;
  close();
  ui.set_focus("model_filter");
}

}  // namespace warpchat::gui
