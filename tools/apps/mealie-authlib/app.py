"""An application with Starlette and Authlib, as Mealie uses it: discovery, PKCE, and one path for request and response."""

import os

import uvicorn
from authlib.integrations.starlette_client import OAuth, OAuthError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse
from starlette.routing import Route

oauth = OAuth()
oauth.register(
    "oidc",
    server_metadata_url=os.environ["ISSUER"] + "/.well-known/openid-configuration",
    client_id=os.environ["CLIENT_ID"],
    client_secret=os.environ["CLIENT_SECRET"],
    client_kwargs={"scope": "openid email profile groups", "code_challenge_method": "S256"},
)


async def login(request):
    if "code" not in request.query_params and "error" not in request.query_params:
        redirect_uri = "http://localhost:" + os.environ["PORT"] + "/login"
        return await oauth.oidc.authorize_redirect(request, redirect_uri)
    try:
        token = await oauth.oidc.authorize_access_token(request)
    except OAuthError as error:
        return PlainTextResponse(str(error), 400)
    request.session["user"] = {name: token["userinfo"].get(name) for name in ("sub", "name", "email")}
    return RedirectResponse("/me")


async def me(request):
    user = request.session.get("user")
    return JSONResponse({} if user is None else user, 401 if user is None else 200)


app = Starlette(
    routes=[Route("/login", login), Route("/me", me)],
    middleware=[Middleware(SessionMiddleware, secret_key="the-secret-of-the-application-itself")],
)
uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PORT"]))
