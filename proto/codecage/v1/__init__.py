"""The public protocol, generated from codecage.proto."""
