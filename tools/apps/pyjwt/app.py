"""An API with Flask that checks JWT access tokens with PyJWT, as in the manual of PyJWT."""

import os

import jwt
from flask import Flask, jsonify, request

app = Flask(__name__)
jwks_client = jwt.PyJWKClient(os.environ["ISSUER"] + "/oauth2/keys.json")


@app.get("/notes")
def notes():
    token = request.headers.get("Authorization", "").removeprefix("Bearer ")
    try:
        signing_key = jwks_client.get_signing_key_from_jwt(token)
        claims = jwt.decode(
            token,
            signing_key,
            algorithms=["RS256"],
            issuer=os.environ["ISSUER"],
            audience="https://notes.example.org/",
            options={"require": ["exp", "iss", "aud", "sub"]},
        )
        # ID tokens are signed with the same keys.
        if jwt.get_unverified_header(token)["typ"] != "at+jwt":
            raise jwt.InvalidTokenError("not an access token")
    except (jwt.PyJWKClientError, jwt.InvalidTokenError) as error:
        return jsonify(error=str(error)), 401
    if "notes.list" not in claims["scope"].split():
        return jsonify(error="scope"), 403
    return jsonify(sub=claims["sub"], client_id=claims["client_id"])


app.run(host="127.0.0.1", port=int(os.environ["PORT"]))
