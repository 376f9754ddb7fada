"""The private protocol between the processes of one service, generated from worker.proto."""
