"""The JSON Schema of the configuration file: `python -m codecage.mcp.schema > docs/mcp.schema.json`."""

import json
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from codecage.mcp.config import Config

__all__ = ["config_schema"]


class _Untitled(GenerateJsonSchema):
    """Leaves out titles, which only say the names again."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def config_schema() -> dict[str, Any]:
    """The schema, for editors and for the documentation."""
    schema = Config.model_json_schema(schema_generator=_Untitled)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "Configuration of codecage mcp"
    return schema


if __name__ == "__main__":
    print(json.dumps(config_schema(), indent=2))  # noqa: T201  # a program
