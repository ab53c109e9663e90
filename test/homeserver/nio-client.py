"""A chat client with matrix-nio. Signs in, calls whoami, and signs out. Prints the results as one JSON object."""

import asyncio
import json
import sys

from nio import AsyncClient


async def main(homeserver: str, user: str, password: str, device_name: str) -> None:
    client = AsyncClient(homeserver, user)
    # The library returns invalid responses as errors without these attributes.
    flows = (await client.login_info()).flows
    login = await client.login(password, device_name)
    token = client.access_token
    who = await client.whoami()
    devices = (await client.devices()).devices
    await client.logout()
    await client.close()
    seen = {
        "flows": flows,
        "login": [login.user_id, login.device_id],
        "who": [who.user_id, who.device_id],
        "devices": [[device.id, device.display_name] for device in devices],
        "token": token,
    }
    print(json.dumps(seen))


asyncio.run(main(*sys.argv[1:]))
