// Runs one script twice: once to its end with a payment refused, once cancelled when it wants to pay.
//
//	client unix:/tmp/codecage.sock    or HOST:PORT
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	codecage "codecage.dev/gen/codecage/v1"
)

const (
	script = `
		const prices = await Promise.all(input.map((fruit) => tools.price({ fruit })));
		const total = prices.reduce((sum, price) => sum + price, 0);
		try {
			await tools.pay({ amount: total });
			return { total, paid: true };
		} catch (error) {
			return { total, paid: false, because: error.message };
		}`
	refused = `completed {"total":6.5,"paid":false,"because":"the customer said no"}
  1 price CALL_STATUS_COMPLETED
  2 price CALL_STATUS_COMPLETED
  3 pay CALL_STATUS_DENIED
`
	cancelled = `cancelled the customer left
  1 price CALL_STATUS_COMPLETED
  2 price CALL_STATUS_COMPLETED
  3 pay CALL_STATUS_CANCELLED
`
	maxMessageBytes = 16 << 20 // gRPC's default of 4 MiB is smaller than the largest answer
)

var (
	prices = map[string]float64{"pear": 2.5, "fig": 4}
	tools  = []*codecage.Tool{
		{
			Name:            "price",
			Description:     "The price of one fruit.",
			InputSchemaJson: `{"type": "object", "properties": {"fruit": {"type": "string"}}, "required": ["fruit"]}`,
		},
		{Name: "pay", Description: "Pays an amount. Asks the customer first."},
	}
)

// run is one stream: it sends Start, replies to each message of calls, and reads until Finished.
func run(client codecage.CodeModeServiceClient, customerLeaves bool) (*codecage.Finished, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	stream, err := client.Run(ctx)
	if err != nil {
		return nil, err
	}
	start := &codecage.Start{
		Source:     script,
		ToolSource: &codecage.Start_Tools{Tools: &codecage.ToolList{Tools: tools}},
		InputJson:  proto.String(`["pear", "fig"]`),
	}
	if err := send(stream, &codecage.RunRequest{Message: &codecage.RunRequest_Start{Start: start}}); err != nil {
		return nil, err
	}
	for {
		response, err := stream.Recv()
		if err != nil {
			return nil, err
		}
		if finished := response.GetFinished(); finished != nil {
			return finished, nil
		}
		if calls := response.GetToolCalls(); calls != nil {
			if err := send(stream, reply(calls, customerLeaves)); err != nil {
				return nil, err
			}
		}
	}
}

// send sends one message. A stream that is over takes none, with io.EOF; Recv then tells why.
func send(stream codecage.CodeModeService_RunClient, request *codecage.RunRequest) error {
	if err := stream.Send(request); err != nil && err != io.EOF {
		return err
	}
	return nil
}

func reply(calls *codecage.ToolCalls, customerLeaves bool) *codecage.RunRequest {
	results := &codecage.ToolResults{}
	for _, call := range calls.Calls {
		if customerLeaves && call.ToolName == "pay" {
			cancel := &codecage.Cancel{Reason: "the customer left"}
			return &codecage.RunRequest{Message: &codecage.RunRequest_Cancel{Cancel: cancel}}
		}
		results.Results = append(results.Results, answer(call))
	}
	return &codecage.RunRequest{Message: &codecage.RunRequest_ToolResults{ToolResults: results}}
}

// answer answers every call: with a value, a failure or a refusal.
func answer(call *codecage.ToolCall) *codecage.ToolResult {
	if call.ToolName == "pay" {
		return failure(call, &codecage.ToolFailure{Denied: true, Message: "the customer said no"})
	}
	var arguments struct{ Fruit string }
	if err := json.Unmarshal([]byte(call.ArgumentsJson), &arguments); err != nil {
		return failure(call, &codecage.ToolFailure{Code: "invalid_arguments", Message: err.Error()})
	}
	price, ok := prices[arguments.Fruit]
	if !ok {
		return failure(call, &codecage.ToolFailure{Code: "not_found", Message: "no such fruit"})
	}
	success := &codecage.ToolSuccess{StructuredJson: proto.String(fmt.Sprint(price))}
	return &codecage.ToolResult{CallId: call.CallId, Outcome: &codecage.ToolResult_Success{Success: success}}
}

func failure(call *codecage.ToolCall, failure *codecage.ToolFailure) *codecage.ToolResult {
	return &codecage.ToolResult{CallId: call.CallId, Outcome: &codecage.ToolResult_Failure{Failure: failure}}
}

// report tells how a run ended, then every call that it made.
func report(finished *codecage.Finished) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s%s\n", finished.Code, finished.GetValueJson(), finished.GetError().GetMessage())
	for _, call := range finished.Ledger {
		fmt.Fprintf(&text, "  %d %s %s\n", call.Sequence, call.ToolName, call.Status)
	}
	return text.String()
}

// isNotRun tells whether a bad status carries our ErrorInfo: then the script was not run.
func isNotRun(err error) bool {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && info.Domain == "codecage.v1" {
			return true
		}
	}
	return false
}

func check(client codecage.CodeModeServiceClient, customerLeaves bool, expected string) error {
	finished, err := run(client, customerLeaves)
	switch {
	case err != nil && isNotRun(err):
		return fmt.Errorf("not run: %w", err)
	case err != nil: // also io.EOF: the stream ended without Finished
		return fmt.Errorf("fate unknown: %w", err)
	}
	reported := report(finished)
	fmt.Print(reported)
	if reported != expected {
		return fmt.Errorf("expected:\n%s", expected)
	}
	return nil
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: client unix:PATH|HOST:PORT")
		os.Exit(2)
	}
	limits := grpc.WithDefaultCallOptions(
		grpc.MaxCallRecvMsgSize(maxMessageBytes), grpc.MaxCallSendMsgSize(maxMessageBytes))
	// Debian's gRPC is older than the package credentials/insecure, which took the place of WithInsecure.
	connection, err := grpc.Dial(os.Args[1], grpc.WithInsecure(), limits)
	if err == nil {
		defer connection.Close()
		client := codecage.NewCodeModeServiceClient(connection)
		if err = check(client, false, refused); err == nil {
			err = check(client, true, cancelled)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
