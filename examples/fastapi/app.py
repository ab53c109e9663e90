"""A FastAPI app that signs users in with OpenID Connect, and shows who they are."""

import html
import os
import secrets
from urllib.parse import urlencode

import uvicorn
from authlib.integrations.starlette_client import OAuth, OAuthError
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse
from starlette.middleware.sessions import SessionMiddleware

ISSUER = os.environ.get("ISSUER", "http://localhost:8080")
PORT = int(os.environ.get("PORT", "3000"))
BASE = f"http://localhost:{PORT}"

app = FastAPI()
# In production: a fixed secret, and https_only=True behind HTTPS.
app.add_middleware(
    SessionMiddleware,
    secret_key=os.environ.get("SESSION_SECRET") or secrets.token_hex(32),
    same_site="lax",
)
oauth = OAuth()
provider = oauth.register(
    "latchkey",
    server_metadata_url=ISSUER.rstrip("/") + "/.well-known/openid-configuration",
    client_id=os.environ["CLIENT_ID"],
    client_secret=os.environ["CLIENT_SECRET"],
    client_kwargs={"scope": "openid profile email", "code_challenge_method": "S256"},
)


@app.get("/")
async def home(request: Request):
    user = request.session.get("user")
    if user is None:
        return HTMLResponse('<p><a href="/login">Sign in</a></p>')
    name = html.escape(user["name"] or user["sub"])
    return HTMLResponse(f'<p>Hello, {name}.</p><p><a href="/logout">Sign out</a></p>')


@app.get("/login")
async def login(request: Request):
    return await provider.authorize_redirect(request, f"{BASE}/callback")


@app.get("/callback")
async def callback(request: Request):
    token = await provider.authorize_access_token(request)
    claims = await provider.userinfo(token=token)
    request.session.clear()
    request.session["user"] = {name: claims.get(name) for name in ("sub", "name", "email")}
    request.session["id_token"] = token["id_token"]
    return RedirectResponse("/")


@app.get("/me")
async def me(request: Request):
    user = request.session.get("user")
    return JSONResponse(user or {}, status_code=401 if user is None else 200)


@app.get("/logout")
async def logout(request: Request):
    metadata = await provider.load_server_metadata()
    parameters = {"post_logout_redirect_uri": f"{BASE}/"}
    if "id_token" in request.session:
        parameters["id_token_hint"] = request.session["id_token"]
    request.session.clear()
    return RedirectResponse(f"{metadata['end_session_endpoint']}?{urlencode(parameters)}")


@app.exception_handler(OAuthError)
async def refused(_: Request, error: OAuthError):
    # An error response of the provider, for example access_denied.
    return PlainTextResponse(f"{error.error}: {error.description}", status_code=403)


if __name__ == "__main__":
    uvicorn.run(app, host="localhost", port=PORT)
