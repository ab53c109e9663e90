"""An application with Flask and Authlib, as the manual of Authlib shows it."""

import os

from authlib.integrations.flask_client import OAuth, OAuthError
from flask import Flask, jsonify, redirect, session, url_for

app = Flask(__name__)
app.secret_key = "the-secret-of-the-application-itself"
oauth = OAuth(app)
oauth.register(
    "latchkey",
    server_metadata_url=os.environ["ISSUER"] + "/.well-known/openid-configuration",
    client_id=os.environ["CLIENT_ID"],
    client_secret=os.environ["CLIENT_SECRET"],
    client_kwargs={"scope": "openid profile email"},
)


@app.get("/login")
def login():
    return oauth.latchkey.authorize_redirect(url_for("callback", _external=True))


@app.get("/oauth/oidc/callback")
def callback():
    session["user"] = oauth.latchkey.authorize_access_token()["userinfo"]
    return redirect("/me")


@app.errorhandler(OAuthError)
def refused(error):
    return str(error), 400


@app.get("/me")
def me():
    user = session.get("user")
    if user is None:
        return jsonify(), 401
    return jsonify({name: user.get(name) for name in ("sub", "name", "email")})


app.run(host="127.0.0.1", port=int(os.environ["PORT"]))
