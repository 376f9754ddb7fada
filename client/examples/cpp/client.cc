// Runs one script twice: once to its end with a payment refused, once cancelled when it wants to pay.
//   client unix:/tmp/codecage.sock    or HOST:PORT

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>

#include "codecage/v1/codecage.grpc.pb.h"

namespace pb = codecage::v1;

namespace {

constexpr char kScript[] = R"(
  const prices = await Promise.all(input.map((fruit) => tools.price({ fruit })));
  const total = prices.reduce((sum, price) => sum + price, 0);
  try {
    await tools.pay({ amount: total });
    return { total, paid: true };
  } catch (error) {
    return { total, paid: false, because: error.message };
  }
)";
constexpr char kPriceSchema[] =
    R"({"type": "object", "properties": {"fruit": {"type": "string"}}, "required": ["fruit"]})";
constexpr char kRefused[] = R"(completed {"total":6.5,"paid":false,"because":"the customer said no"}
  1 price CALL_STATUS_COMPLETED
  2 price CALL_STATUS_COMPLETED
  3 pay CALL_STATUS_DENIED
)";
constexpr char kCancelled[] = R"(cancelled the customer left
  1 price CALL_STATUS_COMPLETED
  2 price CALL_STATUS_COMPLETED
  3 pay CALL_STATUS_CANCELLED
)";
constexpr int kMaxMessageBytes = 16 << 20;  // gRPC's default of 4 MiB is smaller than the largest answer
const std::map<std::string, double> kPrices = {{"pear", 2.5}, {"fig", 4}};

pb::RunRequest MakeStart() {
  pb::RunRequest request;
  pb::Start* start = request.mutable_start();
  start->set_source(kScript);
  start->set_input_json(R"(["pear", "fig"])");
  pb::Tool* price = start->mutable_tools()->add_tools();
  price->set_name("price");
  price->set_description("The price of one fruit.");
  price->set_input_schema_json(kPriceSchema);
  pb::Tool* pay = start->mutable_tools()->add_tools();
  pay->set_name("pay");
  pay->set_description("Pays an amount. Asks the customer first.");
  return request;
}

// Answers every call: with a value, a failure or a refusal.
pb::ToolResult Answer(const pb::ToolCall& call) {
  pb::ToolResult result;
  result.set_call_id(call.call_id());
  if (call.tool_name() == "pay") {
    result.mutable_failure()->set_denied(true);
    result.mutable_failure()->set_message("the customer said no");
    return result;
  }
  google::protobuf::Struct arguments;
  const bool is_object = google::protobuf::util::JsonStringToMessage(call.arguments_json(), &arguments).ok();
  const auto price = kPrices.find((*arguments.mutable_fields())["fruit"].string_value());
  if (!is_object || price == kPrices.end()) {
    result.mutable_failure()->set_code("not_found");
    result.mutable_failure()->set_message("no such fruit");
    return result;
  }
  std::ostringstream json;
  json << price->second;
  result.mutable_success()->set_structured_json(json.str());
  return result;
}

pb::RunRequest Reply(const pb::ToolCalls& calls, bool customer_leaves) {
  pb::RunRequest request;
  for (const pb::ToolCall& call : calls.calls()) {
    if (customer_leaves && call.tool_name() == "pay") {
      request.mutable_cancel()->set_reason("the customer left");
      return request;
    }
    *request.mutable_tool_results()->add_results() = Answer(call);
  }
  return request;
}

// One stream is one run: sends Start, replies to each message of calls, reads until Finished.
grpc::Status Run(pb::CodeModeService::Stub& stub, bool customer_leaves, pb::Finished* finished) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::minutes(1));
  const auto stream = stub.Run(&context);
  // A stream that is over refuses to write; Read and Finish then tell why.
  stream->Write(MakeStart());
  pb::RunResponse response;
  bool is_finished = false;
  while (stream->Read(&response)) {
    if (response.has_tool_calls()) stream->Write(Reply(response.tool_calls(), customer_leaves));
    if (response.has_finished()) {
      *finished = response.finished();
      is_finished = true;
      stream->WritesDone();
    }
  }
  const grpc::Status status = stream->Finish();
  if (status.ok() && !is_finished) return {grpc::StatusCode::UNKNOWN, "the stream ended without Finished"};
  return status;
}

// How a run ended, then every call that it made.
std::string Report(const pb::Finished& finished) {
  std::ostringstream text;
  text << finished.code() << ' ' << finished.value_json() << finished.error().message() << '\n';
  for (const pb::LedgerEntry& call : finished.ledger()) {
    text << "  " << call.sequence() << ' ' << call.tool_name() << ' ' << pb::CallStatus_Name(call.status()) << '\n';
  }
  return text.str();
}

// Whether a bad status carries our ErrorInfo, packed into its details: then the script was not run.
bool IsNotRun(const grpc::Status& status) { return status.error_details().find("codecage.v1") != std::string::npos; }

bool Check(pb::CodeModeService::Stub& stub, bool customer_leaves, const std::string& expected) {
  pb::Finished finished;
  const grpc::Status status = Run(stub, customer_leaves, &finished);
  if (!status.ok()) {
    std::cerr << (IsNotRun(status) ? "not run: " : "fate unknown: ") << status.error_message() << '\n';
    return false;
  }
  const std::string reported = Report(finished);
  std::cout << reported;
  if (reported != expected) std::cerr << "expected:\n" << expected;
  return reported == expected;
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: client unix:PATH|HOST:PORT\n";
    return 2;
  }
  grpc::ChannelArguments arguments;
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  const auto stub =
      pb::CodeModeService::NewStub(grpc::CreateCustomChannel(argv[1], grpc::InsecureChannelCredentials(), arguments));
  return Check(*stub, false, kRefused) && Check(*stub, true, kCancelled) ? 0 : 1;
}
