"""An MCP server with FastMCP, which checks tokens in the two ways described in the manual of FastMCP."""

import os

from fastmcp import FastMCP
from fastmcp.server.auth import RemoteAuthProvider
from fastmcp.server.auth.providers.introspection import IntrospectionTokenVerifier
from fastmcp.server.auth.providers.jwt import JWTVerifier
from fastmcp.server.dependencies import get_access_token

ISSUER = os.environ["ISSUER"]
BASE = f"http://localhost:{os.environ['PORT']}"

if os.environ["VERIFIER"] == "jwt":
    verifier = JWTVerifier(
        jwks_uri=ISSUER + "/oauth2/keys.json",
        issuer=ISSUER,
        audience=BASE + "/mcp",
        required_scopes=["notes.read"],
    )
else:
    verifier = IntrospectionTokenVerifier(
        introspection_url=ISSUER + "/oauth2/introspect",
        client_id=os.environ["CLIENT_ID"],
        client_secret=os.environ["CLIENT_SECRET"],
        audience=BASE + "/mcp",
        required_scopes=["notes.read"],
    )

mcp = FastMCP(
    "Notes",
    auth=RemoteAuthProvider(
        token_verifier=verifier,
        # A string, because AnyHttpUrl would append a slash, which makes it a different issuer.
        authorization_servers=[ISSUER],
        base_url=BASE,
    ),
)


@mcp.tool
def whoami() -> str:
    return get_access_token().claims["sub"]


mcp.run(transport="http", host="127.0.0.1", port=int(os.environ["PORT"]))
