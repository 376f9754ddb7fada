import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.Any;
import com.google.rpc.Status;
import dev.codecage.v1.Cancel;
import dev.codecage.v1.CodeModeServiceGrpc;
import dev.codecage.v1.Finished;
import dev.codecage.v1.LedgerEntry;
import dev.codecage.v1.RunRequest;
import dev.codecage.v1.RunResponse;
import dev.codecage.v1.Start;
import dev.codecage.v1.Tool;
import dev.codecage.v1.ToolCall;
import dev.codecage.v1.ToolCalls;
import dev.codecage.v1.ToolFailure;
import dev.codecage.v1.ToolList;
import dev.codecage.v1.ToolResult;
import dev.codecage.v1.ToolResults;
import dev.codecage.v1.ToolSuccess;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/**
 * Runs one script twice: once to its end with a payment refused, once cancelled when it wants to pay.
 *
 * <p>Its argument is the HOST:PORT of a service. A Unix socket needs the native library of Netty, which Debian does not
 * have; with it, build the channel for a {@code DomainSocketAddress} over an {@code EpollEventLoopGroup}.
 */
public final class Client {
  private static final String SCRIPT =
      """
      const prices = await Promise.all(input.map((fruit) => tools.price({ fruit })));
      const total = prices.reduce((sum, price) => sum + price, 0);
      try {
        await tools.pay({ amount: total });
        return { total, paid: true };
      } catch (error) {
        return { total, paid: false, because: error.message };
      }
      """;
  private static final String PRICE_SCHEMA =
      """
      {"type": "object", "properties": {"fruit": {"type": "string"}}, "required": ["fruit"]}
      """;
  private static final String REFUSED =
      """
      completed {"total":6.5,"paid":false,"because":"the customer said no"}
        1 price CALL_STATUS_COMPLETED
        2 price CALL_STATUS_COMPLETED
        3 pay CALL_STATUS_DENIED
      """;
  private static final String CANCELLED =
      """
      cancelled the customer left
        1 price CALL_STATUS_COMPLETED
        2 price CALL_STATUS_COMPLETED
        3 pay CALL_STATUS_CANCELLED
      """;
  private static final int MAX_MESSAGE_BYTES = 16 << 20; // gRPC's default of 4 MiB is smaller than the largest answer
  private static final Map<String, Double> PRICES = Map.of("pear", 2.5, "fig", 4.0);

  public static void main(String[] arguments) throws InterruptedException {
    if (arguments.length != 1 || arguments[0].startsWith("unix:")) {
      System.err.println("usage: client HOST:PORT");
      System.exit(2);
    }
    ManagedChannel channel =
        NettyChannelBuilder.forTarget(arguments[0]).usePlaintext().maxInboundMessageSize(MAX_MESSAGE_BYTES).build();
    boolean isExpected = false;
    try {
      CodeModeServiceGrpc.CodeModeServiceStub stub = CodeModeServiceGrpc.newStub(channel);
      isExpected = check(stub, false, REFUSED) && check(stub, true, CANCELLED);
    } catch (CompletionException failed) {
      Throwable cause = failed.getCause();
      System.err.println((isNotRun(cause) ? "not run: " : "fate unknown: ") + cause.getMessage());
    } finally {
      channel.shutdown().awaitTermination(5, TimeUnit.SECONDS);
    }
    System.exit(isExpected ? 0 : 1);
  }

  private static boolean check(CodeModeServiceGrpc.CodeModeServiceStub stub, boolean customerLeaves, String expected) {
    Run run = new Run(customerLeaves);
    stub.withDeadlineAfter(1, TimeUnit.MINUTES).run(run);
    run.requests.onNext(start());
    String reported = report(run.finished.join());
    System.out.print(reported);
    if (!reported.equals(expected)) {
      System.err.print("expected:\n" + expected);
    }
    return reported.equals(expected);
  }

  /** How a run ended, then every call that it made. */
  private static String report(Finished finished) {
    StringBuilder text = new StringBuilder(finished.getCode() + " " + finished.getValueJson());
    text.append(finished.getError().getMessage()).append('\n');
    for (LedgerEntry call : finished.getLedgerList()) {
      text.append("  %d %s %s%n".formatted(call.getSequence(), call.getToolName(), call.getStatus()));
    }
    return text.toString();
  }

  /** Whether a bad status carries our ErrorInfo: then the script was not run. */
  private static boolean isNotRun(Throwable error) {
    Status status = StatusProto.fromThrowable(error);
    return status != null && status.getDetailsList().stream().anyMatch(Client::isOurs);
  }

  private static boolean isOurs(Any detail) {
    // Debian's proto-google-common-protos is older than ErrorInfo; with a newer one, unpack it and compare its domain.
    return detail.getTypeUrl().endsWith("/google.rpc.ErrorInfo")
        && detail.getValue().toStringUtf8().contains("codecage.v1");
  }

  private static RunRequest start() {
    Tool price =
        Tool.newBuilder()
            .setName("price")
            .setDescription("The price of one fruit.")
            .setInputSchemaJson(PRICE_SCHEMA)
            .build();
    Tool pay = Tool.newBuilder().setName("pay").setDescription("Pays an amount. Asks the customer first.").build();
    Start start =
        Start.newBuilder()
            .setSource(SCRIPT)
            .setInputJson("[\"pear\", \"fig\"]")
            .setTools(ToolList.newBuilder().addTools(price).addTools(pay))
            .build();
    return RunRequest.newBuilder().setStart(start).build();
  }

  private static RunRequest reply(ToolCalls calls, boolean customerLeaves) {
    ToolResults.Builder results = ToolResults.newBuilder();
    for (ToolCall call : calls.getCallsList()) {
      if (customerLeaves && call.getToolName().equals("pay")) {
        return RunRequest.newBuilder().setCancel(Cancel.newBuilder().setReason("the customer left")).build();
      }
      results.addResults(answer(call));
    }
    return RunRequest.newBuilder().setToolResults(results).build();
  }

  /** Every call is answered: with a value, a failure or a refusal. */
  private static ToolResult answer(ToolCall call) {
    ToolResult.Builder result = ToolResult.newBuilder().setCallId(call.getCallId());
    if (call.getToolName().equals("pay")) {
      return result.setFailure(ToolFailure.newBuilder().setDenied(true).setMessage("the customer said no")).build();
    }
    JsonObject arguments = JsonParser.parseString(call.getArgumentsJson()).getAsJsonObject();
    Double price = PRICES.get(arguments.get("fruit").getAsString());
    if (price == null) {
      return result.setFailure(ToolFailure.newBuilder().setCode("not_found").setMessage("no such fruit")).build();
    }
    return result.setSuccess(ToolSuccess.newBuilder().setStructuredJson(price.toString())).build();
  }

  /** One stream is one run: it replies to each message of calls and reads until Finished. */
  private static final class Run implements ClientResponseObserver<RunRequest, RunResponse> {
    final CompletableFuture<Finished> finished = new CompletableFuture<>();
    ClientCallStreamObserver<RunRequest> requests;
    private final boolean customerLeaves;

    Run(boolean customerLeaves) {
      this.customerLeaves = customerLeaves;
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<RunRequest> requests) {
      this.requests = requests;
    }

    @Override
    public void onNext(RunResponse response) {
      if (response.hasToolCalls()) {
        requests.onNext(reply(response.getToolCalls(), customerLeaves));
      }
      if (response.hasFinished()) {
        finished.complete(response.getFinished());
        requests.onCompleted();
      }
    }

    @Override
    public void onError(Throwable error) {
      finished.completeExceptionally(error);
    }

    @Override
    public void onCompleted() {
      finished.completeExceptionally(new IllegalStateException("the stream ended without Finished")); // unless it came
    }
  }
}
