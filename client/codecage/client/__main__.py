"""`python -m codecage.client` is `codecage`."""

from codecage.client.cli import main

if __name__ == "__main__":
    main()
