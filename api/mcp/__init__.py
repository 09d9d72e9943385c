"""The MCP server: memories as tools that a language model calls, over stdio or HTTP; thin like the API."""
