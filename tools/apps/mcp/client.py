"""An MCP client with the Python SDK, as in its manual. Prints the URL for the browser, then the result."""

import asyncio
import sys
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import ClientSession
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, TokenStorage
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

[_, server_url] = sys.argv


class InMemoryTokenStorage(TokenStorage):
    def __init__(self):
        self.tokens: OAuthToken | None = None
        self.client_info: OAuthClientInformationFull | None = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client_info

    async def set_client_info(self, client_info):
        self.client_info = client_info


async def main():
    answered = asyncio.get_running_loop().create_future()

    async def on_connection(reader, writer):
        target = (await reader.readline()).decode().split(" ")[1]
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nsigned")
        await writer.drain()
        writer.close()
        query = parse_qs(urlsplit(target).query)
        if ("code" in query or "error" in query) and not answered.done():
            answered.set_result(query)

    listener = await asyncio.start_server(on_connection, "localhost", 0)
    port = listener.sockets[0].getsockname()[1]

    async def open_browser(url):
        print("open:", url, flush=True)

    async def wait_for_answer():
        query = await answered
        return AuthorizationCodeResult(
            code=query["code"][0], state=query.get("state", [None])[0], iss=query.get("iss", [None])[0]
        )

    oauth = OAuthClientProvider(
        server_url=server_url,
        client_metadata=OAuthClientMetadata(
            client_name="Notes in Python",
            redirect_uris=[AnyUrl(f"http://localhost:{port}/callback")],
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
        ),
        storage=InMemoryTokenStorage(),
        redirect_handler=open_browser,
        callback_handler=wait_for_answer,
    )
    async with httpx2.AsyncClient(auth=oauth, follow_redirects=True, timeout=120) as http_client:
        async with streamable_http_client(server_url, http_client=http_client) as (read, write, *_):
            async with ClientSession(read, write) as session:
                await session.initialize()
                result = await session.call_tool("whoami", {})
                print("answer:", result.content[0].text, flush=True)


asyncio.run(main())
