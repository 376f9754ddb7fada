"""Other ways to run a script that a model wrote, measured beside this service in one run."""
