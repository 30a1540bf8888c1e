#!/usr/bin/env python3
"""A small server by the Python SDK of MCP (package mcp of PyPI, 1.x or 2.x), which is found in PYTHONPATH.

usage: real_server.py stdio | real_server.py http PORT [stateless] [json]
"""
import sys

try:
    from mcp.server import MCPServer as Server
    from mcp.server.mcpserver import Context
    IS_NEW = True
except ImportError:
    from mcp.server.fastmcp import Context
    from mcp.server.fastmcp import FastMCP as Server
    IS_NEW = False

HTTP = {"host": "127.0.0.1", "port": int(sys.argv[2]), "stateless_http": "stateless" in sys.argv,
        "json_response": "json" in sys.argv} if sys.argv[1] == "http" else {}
server = Server("real", instructions="Add numbers.") if IS_NEW else Server("real", instructions="Add numbers.", **HTTP)


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers.

    The second line is for models."""
    return a + b


@server.tool()
def fail(reason: str) -> str:
    """Fail with a reason"""
    raise ValueError(reason)


@server.tool()
async def steps(n: int, ctx: Context) -> str:
    """Report progress"""
    for i in range(n):
        await ctx.report_progress(i + 1, n)
    return f"{n} steps"


@server.tool()
def repeat(text: str, n: int) -> str:
    """Repeat a text"""
    return text * n


if sys.argv[1] == "stdio":
    server.run()
elif IS_NEW:
    server.run("streamable-http", **HTTP)
else:
    server.run("streamable-http")
