"""Between the library's values and protobuf. No other part of the library touches protobuf.

Requests go out as bytes, responses come in as bytes:
    requests    a run's first message, answers to calls, changes of a run
    responses   events of a run, the end of a run
    info        the methods beside Run
    status      the details of a gRPC status
    shared      limits, policies, tools, enum words, durations: both ways
    reverse_*   what a server does with them, for the fake in `testing`
"""
