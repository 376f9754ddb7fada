"""An MCP server that gives its clients code mode over other MCP servers: the command `codecage mcp`.

Each module is one noun:
    config      the configuration file
    patterns    what a rule says of an argument
    rules       which calls are allowed, asked about, refused
    content     between MCP's content and the client's
    upstream    one server behind us: connected, watched, connected again
    catalog     the tools of all servers behind us, under one name each
    service     the service that runs scripts
    questions   asking the person in front, in both eras of the protocol
    session     one call in front: a run, its questions, its progress
    parking     calls that wait for their client to come back
    gateway     the server in front
    transports  stdio and Streamable HTTP

Needs the package's `mcp` extra; built on the public names of `codecage.client` and the official `mcp` SDK.
"""
