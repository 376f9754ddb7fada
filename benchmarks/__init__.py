"""Measures the service, each figure beside the floor that no service on the same transport can go below."""

import os

# Else every server that is stopped makes the caller's side of grpc say so between the figures.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
