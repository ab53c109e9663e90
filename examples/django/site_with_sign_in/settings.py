"""Settings of a site whose users sign in with OpenID Connect."""

import os
import secrets
from pathlib import Path

ISSUER = os.environ.get("ISSUER", "http://localhost:8080").rstrip("/")

# In production: a fixed secret, DEBUG off, and the host names of the site.
SECRET_KEY = os.environ.get("SECRET_KEY") or secrets.token_hex(32)
DEBUG = True
ALLOWED_HOSTS = ["localhost"]
ROOT_URLCONF = "site_with_sign_in.urls"
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": os.environ.get("DATABASE", Path(__file__).parent.parent / "db.sqlite3"),
    }
}
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "mozilla_django_oidc",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTHENTICATION_BACKENDS = ["site_with_sign_in.users.SubjectBackend"]
OIDC_RP_CLIENT_ID = os.environ.get("CLIENT_ID")
OIDC_RP_CLIENT_SECRET = os.environ.get("CLIENT_SECRET")
OIDC_RP_SCOPES = "openid profile email"
OIDC_RP_SIGN_ALGO = "RS256"
OIDC_USE_PKCE = True
OIDC_OP_AUTHORIZATION_ENDPOINT = f"{ISSUER}/authorize"
OIDC_OP_TOKEN_ENDPOINT = f"{ISSUER}/oauth2/token"
OIDC_OP_USER_ENDPOINT = f"{ISSUER}/oauth2/userinfo"
OIDC_OP_JWKS_ENDPOINT = f"{ISSUER}/oauth2/keys.json"
OIDC_OP_LOGOUT_ENDPOINT = f"{ISSUER}/oauth2/logout"
OIDC_OP_LOGOUT_URL_METHOD = "site_with_sign_in.users.logout_url"
OIDC_STORE_ID_TOKEN = True
LOGIN_REDIRECT_URL = "/"
LOGIN_REDIRECT_URL_FAILURE = "/refused"
LOGOUT_REDIRECT_URL = "/"
