// Addresses, lists of models, requests, refusals and metrics, without a network.
#include "engine/remote/endpoint.h"

#include <gtest/gtest.h>

#include "engine/remote/chat_request.h"
#include "engine/remote/refusal.h"
#include "engine/remote/server_metrics.h"

namespace warpchat {
namespace {

using nlohmann::ordered_json;

TEST(Endpoint, AddressesAreTakenLiberally) {
  for (const char* url : {"http://box:8000", "http://box:8000/", "http://box:8000/v1", "http://BOX:8000/v1//",
                          "http://box:8000/v1/chat/completions", "http://box:8000/v1/models"})
    EXPECT_EQ(base_url(url), "http://box:8000/v1") << url;
  EXPECT_EQ(base_url("localhost:11434"), "http://localhost:11434/v1");
  EXPECT_EQ(base_url("127.0.0.1:1234/v1"), "http://127.0.0.1:1234/v1");
  EXPECT_EQ(base_url("https://api.example/openai/v1/"), "https://api.example/openai/v1");
  EXPECT_EQ(base_url("box:8000"), "http://box:8000/v1");
  EXPECT_EQ(base_url("box.example:8000/openai"), "http://box.example:8000/openai");
  EXPECT_EQ(base_url("api.example"), "https://api.example/v1");
  EXPECT_EQ(base_url("api.example:443/v1"), "https://api.example/v1");
  for (const char* none : {"", "name", "name/v1", "box:port", "box:99999", ":8000", "me:8000@box", "ftp://box",
                           "http://", "http://box/v1?key=x", "http://box#x", "http://me:secret@box/v1", "http://box /"})
    EXPECT_THROW(base_url(none), Error) << none;
  try {
    base_url("https://x.openai.azure.com/openai/deployments/X/chat/completions?api-version=2024-10-21");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("has no '?'"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("/openai/v1"), std::string::npos) << error.what();
  }
}

TEST(Endpoint, AddressesAreToldFromNames) {
  for (const char* address : {"http://box", "https://api.example/v1", "box:8000", "localhost", "localhost:8000/v1",
                              "127.0.0.1", "192.168.0.7:11434"})
    EXPECT_TRUE(is_server_address(address)) << address;
  for (const char* name : {"", "box", "api.example", "org/repo:8", "org/repo", "qwen:4b", "/dev/box:8000", "box: 8000",
                           "ftp://box", "http://", ":8000"})
    EXPECT_FALSE(is_server_address(name)) << name;
}

struct CapabilitiesCase {
  const char* server;
  const char* model;  // an entry of its list, without its id
  const char* capabilities;
};
constexpr CapabilitiesCase kCapabilities[] = {
    {"says_nothing", R"("owned_by":"vllm")", ""},
    {"mistral", R"("capabilities":{"completion_chat":true,"function_calling":true,"vision":true,"audio":false})",
     "images, tools"},
    {"lm_studio", R"("type":"vlm","capabilities":["tool_use"])", "images, tools"},
    {"ollama", R"("capabilities":["completion","thinking","tools"])", "tools, thinking"},
    {"llama_server", R"("capabilities":["completion","multimodal"])", "images"},
    {"openrouter",
     R"("architecture":{"input_modalities":["text","image","audio"]},"supported_parameters":["tools","top_k","reasoning"])",
     "images, audio, tools, thinking"},
    {"other_types", R"("capabilities":7,"type":null,"architecture":[],"supported_parameters":[3,{"tools":true}])", ""},
};
TEST(Endpoint, CapabilitiesAsServersTellThem) {
  for (const CapabilitiesCase& c : kCapabilities) {
    std::string list;
    const RemoteModel model = parse_models(R"({"data":[{"id":"a",)" + std::string(c.model) + "}]}").at(0);
    for (const std::string& word : model.capabilities) list += (list.empty() ? "" : ", ") + word;
    EXPECT_EQ(list, c.capabilities) << c.server;
  }
}

TEST(Endpoint, ListsOfModels) {
  const auto vllm =
      parse_models(R"({"object":"list","data":[{"id":"Qwen/Qwen3-4B","owned_by":"vllm","max_model_len":40960}]})");
  ASSERT_EQ(vllm.size(), 1u);
  EXPECT_EQ(vllm[0].id, "Qwen/Qwen3-4B");
  EXPECT_EQ(vllm[0].context, 40960u);
  EXPECT_EQ(vllm[0].kind, ServerKind::kVllm);
  const auto llama =
      parse_models(R"({"models":[],"data":[{"id":"a.gguf","owned_by":"llamacpp","meta":{"n_ctx_train":131072}}]})");
  EXPECT_EQ(llama.at(0).context, 131072u);
  EXPECT_EQ(llama.at(0).kind, ServerKind::kLlamaCpp);
  const auto capabilities_of = [](const std::string& body) { return parse_models(body).at(0).capabilities; };
  using Words = std::vector<std::string>;
  EXPECT_EQ(capabilities_of(R"({"models":[{"name":"b","capabilities":["x"]},{"name":"a","capabilities":["vision"]}],)"
                            R"("data":[{"id":"a"}]})"),
            Words{"images"});
  EXPECT_EQ(capabilities_of(R"({"data":[{"id":"a","capabilities":{"vision":true,"audio":false,"tools":true}}]})"),
            (Words{"images", "tools"}));
  EXPECT_EQ(capabilities_of(R"({"data":[{"id":"a","capabilities":["chat",7,"\u001b[31m"]}]})"), Words{});
  EXPECT_EQ(capabilities_of(R"({"models":{"name":"a"},"data":[{"id":"a","capabilities":"vision"}]})"), Words{});
  EXPECT_EQ(parse_models(R"({"data":[{"id":"a","context_length":-1},{"id":7},3,{"id":"b","owned_by":null}]})").size(),
            2u);
  EXPECT_EQ(parse_models(R"({"data":[]})").size(), 0u);
  const auto fault_of = [](const std::string& body) {
    try {
      parse_models(body);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  for (const char* text : {"", "<html>", "[[[[["}) EXPECT_EQ(fault_of(text), "it is not JSON") << text;
  for (const char* other : {"{}", "7", "null", "\"gpt\"", R"({"data":7})", R"({"data":null})",
                            R"({"models":[{"name":"a"}]})", R"({"error":{"message":"no"}})"})
    EXPECT_EQ(fault_of(other), "it is not a list of models but '" + std::string(other) + "'");
  EXPECT_EQ(fault_of("{\"object\":\"" + std::string(200, 'x') + "\"}"),
            "it is not a list of models but '{\"object\":\"" + std::string(109, 'x') + "...'");
  for (const char* entries : {R"([7,{"id":"b"}])", R"({"data":[{"id":"b"}]})"}) EXPECT_EQ(fault_of(entries), "none");
  for (const char* entries : {R"(["gpt"])", R"({"data":["gpt",7]})"})
    EXPECT_EQ(fault_of(entries), "no entry has a text as 'id', as in '\"gpt\"'");
  EXPECT_EQ(fault_of(R"({"data":[{"name":"a"}]})"), "no entry has a text as 'id', as in '{\"name\":\"a\"}'");
  EXPECT_THROW(parse_models(std::string(100000, '[')), Error);
  EXPECT_EQ(near_names({{"llama"}, {"qwen3-4b"}, {"qwen3-8b"}}, "qwen-8b"), "qwen3-8b, qwen3-4b, llama");
}

AnswerOptions plain_options() {
  AnswerOptions options;
  options.sampling = servers_own_sampling();
  return options;
}

std::vector<Message> question() { return {{.role = "user", .content = "Why?", .files = {{"a.txt", "b"}}}}; }

TEST(ChatRequest, LeavesToTheServerWhatWasNotAskedFor) {
  const RemoteRequest request = remote_request(question(), plain_options(), {"m"}, {});
  EXPECT_EQ(request.path, "/chat/completions");
  EXPECT_EQ(request.body.dump(),
            R"({"model":"m","messages":[{"role":"user","content":"a.txt:\n\n```\nb\n```\n\nWhy?"}],)"
            R"("stream":true,"stream_options":{"include_usage":true}})");
}

TEST(ChatRequest, SendsWhatIsSet) {
  AnswerOptions options = plain_options();
  options.system_prompt = "Be brief.";
  options.sampling = {.repeat_penalty = 1.1f,
                      .top_k = 20,
                      .top_p = 0.95f,
                      .min_p = 0.05f,
                      .temperature = 0.7f,
                      .seed = 7,
                      .seed_is_chosen = true};
  options.max_tokens = 5;
  options.template_variables = {{"enable_thinking", false}};
  ordered_json body = remote_request(question(), options, {"m", 0, ServerKind::kVllm}, {}).body;
  EXPECT_EQ(body["messages"][0].dump(), R"({"role":"system","content":"Be brief."})");
  body.erase("messages");
  EXPECT_EQ(body.dump(),
            R"({"model":"m","chat_template_kwargs":{"enable_thinking":false},"temperature":0.7,"top_p":0.95,"seed":7,)"
            R"("top_k":20,"min_p":0.05,"repetition_penalty":1.1,"max_tokens":5,"stream":true,)"
            R"("stream_options":{"include_usage":true,"continuous_usage_stats":true}})");
}

TEST(ChatRequest, ToolsAndContinuedAnswers) {
  std::vector<Message> messages = {
      {.role = "user", .content = "1+1?"},
      {.role = "assistant", .reasoning = "add", .tool_calls = {{"c1", "add", "{}"}}},
      {.role = "tool", .content = "2", .tool_call_id = "c1"},
      {.role = "assistant", .content = "It", .reasoning = "so"},
  };
  const RemoteRequest vllm = remote_request(messages, plain_options(), {"m", 0, ServerKind::kVllm}, {});
  EXPECT_EQ(vllm.body["messages"].dump(),
            R"([{"role":"user","content":"1+1?"},{"role":"assistant","content":"","tool_calls":)"
            R"([{"id":"c1","type":"function","function":{"name":"add","arguments":"{}"}}]},)"
            R"({"role":"tool","content":"2","tool_call_id":"c1"},)"
            R"({"role":"assistant","content":"<think>\nso\n</think>\n\nIt"}])");
  EXPECT_TRUE(vllm.body["continue_final_message"].get<bool>());
  EXPECT_FALSE(vllm.body["add_generation_prompt"].get<bool>());
  const RemoteModel llama{"m", 0, ServerKind::kLlamaCpp};
  EXPECT_FALSE(remote_request(messages, plain_options(), llama, {}).body.contains("continue_final_message"));
  const ordered_json sglang = remote_request(messages, plain_options(), {"m", 0, ServerKind::kSgLang}, {}).body;
  EXPECT_TRUE(sglang["continue_final_message"].get<bool>());
  const ordered_json mistral = remote_request(messages, plain_options(), {"m", 0, ServerKind::kMistral}, {}).body;
  EXPECT_TRUE(mistral["messages"].back()["prefix"].get<bool>());
  EXPECT_FALSE(mistral["messages"][1].contains("prefix"));
  for (const ServerKind kind : {ServerKind::kUnknown, ServerKind::kOllama})  // they may begin it anew
    EXPECT_THROW(remote_request(messages, plain_options(), {"m", 0, kind}, {}), Error);
  messages.back().content = "";
  using State = ReasoningSplitter::State;
  EXPECT_EQ(remote_request(messages, plain_options(), llama, {}).begin.state, State::kThinking);
  messages.back().reasoning_ended = true;
  const RemoteRequest behind = remote_request(messages, plain_options(), llama, {});
  EXPECT_EQ(behind.begin.state, State::kAnswer);
  EXPECT_TRUE(behind.begin.has_thought);
  EXPECT_EQ(behind.body["messages"].back()["content"], "<think>\nso\n</think>\n\n");
  EXPECT_TRUE(is_mistral({.url = "https://api.mistral.ai/v1"}));
  EXPECT_FALSE(is_mistral({.url = "https://api.notmistral.ai/v1"}));
}

TEST(ChatRequest, WhatHoldsNothingForTheModelIsNotSent) {
  const std::vector<Message> messages = {{.role = "user", .content = "Hi"},
                                         {.role = "assistant", .reasoning = "cut"},
                                         {.role = "user", .content = "Again"},
                                         {.role = "assistant", .tool_calls = {{"c1", "search", "{}"}}},
                                         {.role = "user", .content = "And"}};
  EXPECT_EQ(remote_request(messages, plain_options(), {"m"}, {}).body["messages"].dump(),
            R"([{"role":"user","content":"Hi\n\nAgain\n\nAnd"}])");
}

TEST(ChatRequest, TextAndTokens) {
  EXPECT_EQ(remote_request(std::string("Once"), plain_options(), {"m"}, {}).path, "/completions");
  EXPECT_THROW(remote_request(std::vector<Token>{1}, plain_options(), {"m"}, {}), Error);
  AnswerOptions templated = plain_options();
  templated.chat_template = "{{ x }}";
  EXPECT_THROW(remote_request(question(), templated, {"m"}, {}), Error);
}

TEST(ChatRequest, RefusedFields) {
  AnswerOptions options = plain_options();
  options.sampling.top_k = 20;
  options.sampling.min_p = 0.1f;
  options.sampling.temperature = 0.5f;
  options.sampling.top_p = 0.9f;
  options.sampling.seed_is_chosen = true;
  options.max_tokens = 9;
  const ordered_json body = remote_request(question(), options, {"m"}, {}).body;
  using Names = std::set<std::string>;
  EXPECT_EQ(refused_fields(body, "Unrecognized request argument supplied: top_k"), (Names{"top_k", "min_p"}));
  EXPECT_EQ(refused_fields(body, "Unsupported value: 'temperature' does not support 0.5"), Names{"temperature"});
  EXPECT_EQ(refused_fields(body, "the model has a temperature_limit, and messages are wrong"), Names{});
  EXPECT_EQ(refused_fields(body, "temperature must be at most 2, got 5"), Names{});
  EXPECT_EQ(refused_fields(body, "Input should be less than 2 at [\"body\",\"temperature\"]"), Names{});
  EXPECT_EQ(refused_fields(body, "presence_penalty is not supported"), Names{});  // it was not sent
  for (const char* words :
       {"Invalid JSON payload received. Unknown name \"seed\": Cannot find field",
        "Extra inputs are not permitted at body.seed", "Additional properties are not allowed ('seed' was unexpected)",
        "Extra parameters ['seed'] are not allowed when extra-parameters is not set or set to be 'error'",
        "unknown field: parameter 'seed' is not a valid field", "property 'seed' is unsupported",
        "Input should be a string at body.user; Extra inputs are not permitted at body.seed"})
    EXPECT_EQ(refused_fields(body, words), Names{"seed"}) << words;
  EXPECT_EQ(refused_fields(body, "invalid temperature: only 1 is allowed for this model"), Names{"temperature"});
  EXPECT_EQ(refused_fields(body, "`temperature` and `top_p` cannot both be specified for this model"),
            (Names{"temperature", "top_p"}));
  for (const char* other :
       {"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input "
        "length or `max_tokens` and try again",
        "Your text was flagged: 'turn up the temperature'", "max_tokens is too large: 9"})
    EXPECT_EQ(refused_fields(body, other), Names{}) << other;
  const ordered_json again =
      remote_request(question(), options, {"m"}, refused_fields(body, "'max_tokens' is not supported")).body;
  EXPECT_FALSE(again.contains("max_tokens"));
  EXPECT_EQ(again["max_completion_tokens"], 9);
}

TEST(Refusal, ToolsAreLeftOutWhereTheModelHasNoPlaceForThem) {
  AnswerOptions options;
  options.tools = {{"s__read", "reads", {{"type", "object"}}}};
  const ordered_json body = remote_request(question(), options, {"m"}, {}).body;
  for (const char* words :
       {"registry.ollama.ai/library/gemma:2b does not support tools", "`tools` is not supported with this model",
        "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
        "Function calling is not enabled for this model", "Extra inputs are not permitted at body.tools"})
    EXPECT_EQ(refused_fields(body, words), std::set<std::string>{"tools"}) << words;
  for (const char* words : {"Invalid schema for function 's__read': 'oneOf' is not supported",
                            "tools.0.custom.input_schema: schema type is not supported", "the tools are many"})
    EXPECT_EQ(refused_fields(body, words), std::set<std::string>{}) << words;
  EXPECT_FALSE(remote_request(question(), options, {"m"}, {"tools"}).body.contains("tools"));
}

TEST(Refusal, WordsOfManyServers) {
  const std::pair<const char*, const char*> kBodies[] = {
      {R"({"error":{"message":"No such\nmodel.","code":404}})", "No such model"},
      {R"({"error":"model not found"})", "model not found"},
      {R"({"object":"error","message":"bad"})", "bad"},
      {R"({"detail":"Not Found"})", "Not Found"},
      {R"({"detail":[{"loc":["body","top_k"],"msg":"extra fields"}]})", "extra fields at body.top_k"},
      {R"([{"error":{"code":400,"message":"Unknown name \"seed\": Cannot find field.","status":"INVALID_ARGUMENT"}}])",
       "Unknown name \"seed\": Cannot find field"},
      {R"({"object":"error","message":{"detail":[{"type":"x","loc":["body","seed"],"msg":"Extra inputs"}]}})",
       "Extra inputs at body.seed"},
      {R"({"message":"{\"detail\":[{\"msg\":\"no\",\"loc\":[\"body\",3]}]}"})", "no at body.3"},
      {R"({"error":{"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"slow\"}}"}}})",
       "Provider returned error: slow"},
      {R"({"error":{"message":"Provider returned error","metadata":{"raw":"slow down","provider_name":"X"}}})",
       "Provider returned error: slow down"},
      {R"({"error":"invalid_request","error_description":"no such field"})", "no such field: invalid_request"},
      {R"({"errors":{"top_k":["not allowed"]}})", "top_k: not allowed"},
      {R"({"status":"fail","payload":{"info":{"message":"deep"}}})", "deep"},
      {R"({"error":{"type":"overloaded_error"}})", "type: overloaded_error"},
      {R"({"errors":[{"message":"a"},{"message":"b"},{"message":"a"}]})", "a; b"},
      {R"("just a text")", "just a text"},
      {"upstream connect error", "upstream connect error"},  // no JSON: the body itself
      {R"({"error":7})", R"({"error":7})"},
      {"7", "7"},
      {"", ""},
      {"<html>", ""},
      {"{}", ""},
      {"[]", ""},
      {"null", ""},
  };
  for (const auto& [body, words] : kBodies) EXPECT_EQ(server_words(body, ""), words) << body;
  std::string deep = R"("no")";
  for (int i = 0; i < 60; ++i) deep = "{\"error\":" + deep + "}";
  EXPECT_EQ(server_words(deep, "").substr(0, 10), R"({"error":{)");
  EXPECT_NE(server_words(std::string(100000, '['), ""), "");
}

TEST(Refusal, TheKeyIsNeverRepeated) {
  const std::string key = "sk-abc/0123456789";
  EXPECT_EQ(
      server_words(R"({"error":{"message":"Incorrect API key: sk-abc\/0123456789, Bearer sk-abc/0123456789."}})", key),
      "Incorrect API key: [API key], Bearer [API key]");
  EXPECT_EQ(server_words("no JSON: sk-abc/0123456789", key), "no JSON: [API key]");
  const std::string cut = server_words(std::string(290, 'a') + " " + key, key);  // shortened behind it
  EXPECT_EQ(cut.find("sk-"), std::string::npos) << cut;
  EXPECT_EQ(server_words("the key none is wrong, nonetheless", "none"), "the key [API key] is wrong, nonetheless");
  const Endpoint endpoint{.url = "http://box:8000/v1", .key = key, .key_source = "the variable X"};
  for (const long status : {400, 401, 404, 429, 500, 503}) {
    const HttpAnswer answer{.status = status, .body = R"({"error":"wrong: sk-abc/0123456789"})"};
    EXPECT_EQ(refusal(endpoint, answer).find(key), std::string::npos) << status;
  }
}

TEST(Refusal, WaitsThatServersAskFor) {
  using std::chrono::milliseconds;
  const auto wait = [](std::map<std::string, std::string> headers) {
    return HttpAnswer{.status = 429, .headers = std::move(headers)}.retry_after();
  };
  EXPECT_EQ(wait({}), milliseconds(0));
  EXPECT_EQ(wait({{"retry-after", "7"}}), milliseconds(7000));
  EXPECT_EQ(wait({{"retry-after", "1.5"}}), milliseconds(1500));
  EXPECT_EQ(wait({{"retry-after", "7"}, {"retry-after-ms", "250.5"}}), milliseconds(251));
  EXPECT_EQ(wait({{"date", "Thu, 26 Nov 2026 10:00:00 GMT"}, {"retry-after", "Thu, 26 Nov 2026 11:00:00 GMT"}}),
            milliseconds(3'600'000));
  EXPECT_EQ(wait({{"date", "Thu, 26 Nov 2026 10:00:00 GMT"}, {"retry-after", "Thu, 26 Nov 2026 09:00:00 GMT"}}),
            milliseconds(0));
  EXPECT_GT(wait({{"retry-after", "Thu, 26 Nov 2099 11:00:00 GMT"}}), milliseconds(3'600'000));  // no date of its own
  for (const char* odd : {"soon", "", "-5", "nan", "7 s"})
    EXPECT_EQ(wait({{"retry-after", odd}}), milliseconds(0)) << odd;
  EXPECT_GT(wait({{"retry-after", "1e300"}}), milliseconds(1'000'000));

  const Endpoint endpoint{.url = "http://box:8000/v1"};
  const HttpAnswer later{.status = 429, .headers = {{"retry-after", "86400"}}, .body = "{}"};
  EXPECT_FALSE(next_try(endpoint, later, 1));
  EXPECT_NE(refusal(endpoint, later).find("; it wants to be asked again in 24 hours"), std::string::npos);
  const HttpAnswer soon{.status = 503, .headers = {{"retry-after", "1.5"}}, .body = "{}"};
  EXPECT_EQ(next_try(endpoint, soon, 1)->wait, milliseconds(1500));
  EXPECT_EQ(next_try(endpoint, soon, 1)->sentence, "box:8000 answers 503; try 2 of 3 in 1.5 s");
}

TEST(Refusal, ASpentQuotaIsNotTriedAgain) {
  const Endpoint endpoint{.url = "http://box:8000/v1"};
  const HttpAnswer spent{
      .status = 429, .body = R"({"error":{"message":"You exceeded your current quota.","code":"insufficient_quota"}})"};
  EXPECT_FALSE(next_try(endpoint, spent, 1));
  EXPECT_EQ(
      refusal(endpoint, spent),
      "box:8000 answers 429: the quota or the credit of the account is used up (You exceeded your current quota)");
}

TEST(ServerMetrics, OfVllmAndLlamaCpp) {
  const ServerMetrics vllm = parse_metrics(
      "# HELP vllm:num_requests_running Number\n# TYPE vllm:num_requests_running gauge\n"
      "vllm:num_requests_running{engine=\"0\",model_name=\"a b } c\"} 2.0\n"
      "vllm:num_requests_running{engine=\"1\",model_name=\"x\"} 1.0\n"
      "vllm:kv_cache_usage_perc{engine=\"0\"} 0.25\nvllm:kv_cache_usage_perc{engine=\"1\"} 0.5\n"
      "vllm:time_to_first_token_seconds_bucket{le=\"0.1\"} 3\nvllm:time_to_first_token_seconds_sum{} 1.5e1\n"
      "vllm:num_requests_waiting{engine=\"0\"} NaN\nnonsense\n{}\nvllm:prompt_tokens_total");
  ServerMetrics expected;
  expected.running = 3;
  expected.kv_usage = 0.5;
  expected.first_token_seconds = 15;
  EXPECT_EQ(vllm, expected);
  const ServerMetrics llama = parse_metrics(
      "llamacpp:requests_processing 1\r\nllamacpp:prompt_seconds_total 0.25\nllamacpp:tokens_predicted_total 12");
  EXPECT_EQ(llama.running, 1);
  EXPECT_EQ(llama.prompt_seconds, 0.25);
  EXPECT_EQ(llama.generated_tokens, 12);
}

TEST(ServerMetrics, AreAskedForBesideTheEndpoint) {
  EXPECT_EQ(metrics_request({.url = "http://box:8000/v1"}).url, "http://box:8000/metrics");
  EXPECT_EQ(metrics_request({.url = "http://box/llm"}).url, "http://box/llm/metrics");
}

TEST(ServerMetrics, TheirAbsenceIsOneSentence) {
  const Endpoint endpoint{.url = "http://box:8000/v1"};
  const auto fault = [&](long status, const char* body) -> std::string {
    try {
      metrics_of(endpoint, {.status = status, .body = body});
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(fault(200, "vllm:num_requests_running 1"), "");
  EXPECT_EQ(fault(200, "up 1"), "box:8000 does not tell its load: nothing in its /metrics is known here");
  EXPECT_EQ(fault(404, "Not Found"), "box:8000 does not tell its load: /metrics answers 404 (Not Found)");
  EXPECT_EQ(fault(501, R"({"error":{"message":"Start it with `--metrics`"}})"),
            "box:8000 does not tell its load: /metrics answers 501 (Start it with `--metrics`)");
  EXPECT_EQ(fault(401, ""), "box:8000 does not tell its load to this key");
}

TEST(Refusal, SaysWhatToDoAboutLength) {
  const Endpoint endpoint{.url = "http://box:8000/v1"};
  for (const char* body :
       {R"({"error":{"code":400,"message":"request (9 tokens) exceeds","type":"exceed_context_size_error"}})",
        R"({"error":{"code":"context_length_exceeded","message":"too much"}})",
        R"({"object":"error","message":"This model's maximum context length is 4096 tokens."})"})
    EXPECT_NE(refusal(endpoint, {.status = 400, .body = body}).find("; a shorter message"), std::string::npos) << body;
  EXPECT_EQ(refusal(endpoint, {.status = 400, .body = R"({"error":"no"})"}), "box:8000 refuses the request: no");
}

}  // namespace
}  // namespace warpchat
