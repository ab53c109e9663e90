"""A Django site with mozilla-django-oidc in one file, its settings as the manual of mozilla-django-oidc shows them."""

import os
import sys

import django
from django.conf import settings
from django.core.management import call_command, execute_from_command_line
from django.http import JsonResponse
from django.urls import include, path

ISSUER = os.environ["ISSUER"]

settings.configure(
    DEBUG=True,
    SECRET_KEY="the-secret-of-the-application-itself",
    ALLOWED_HOSTS=["localhost"],
    ROOT_URLCONF=__name__,
    DATABASES={
        "default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.path.join(os.environ["FOLDER"], "django.sqlite")}
    },
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.sessions",
        "mozilla_django_oidc",
    ],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
    ],
    AUTHENTICATION_BACKENDS=["mozilla_django_oidc.auth.OIDCAuthenticationBackend"],
    OIDC_RP_CLIENT_ID=os.environ["CLIENT_ID"],
    OIDC_RP_CLIENT_SECRET=os.environ["CLIENT_SECRET"],
    OIDC_RP_SIGN_ALGO="RS256",
    OIDC_RP_SCOPES="openid profile email",
    OIDC_USE_PKCE=True,
    OIDC_OP_AUTHORIZATION_ENDPOINT=ISSUER + "/authorize",
    OIDC_OP_TOKEN_ENDPOINT=ISSUER + "/oauth2/token",
    OIDC_OP_USER_ENDPOINT=ISSUER + "/oauth2/userinfo",
    OIDC_OP_JWKS_ENDPOINT=ISSUER + "/oauth2/keys.json",
    OIDC_STORE_ID_TOKEN=True,
    LOGIN_REDIRECT_URL="/me",
    LOGIN_REDIRECT_URL_FAILURE="/refused",
)
django.setup()


def me(request):
    from jwt import decode

    if not request.user.is_authenticated:
        return JsonResponse({}, status=401)
    claims = decode(request.session["oidc_id_token"], options={"verify_signature": False})
    return JsonResponse({"sub": claims["sub"], "name": claims["name"], "email": request.user.email})


def refused(request):
    return JsonResponse({"signed_in": False}, status=403)


urlpatterns = [path("oidc/", include("mozilla_django_oidc.urls")), path("me", me), path("refused", refused)]

call_command("migrate", verbosity=0)
execute_from_command_line([sys.argv[0], "runserver", "--noreload", "127.0.0.1:" + os.environ["PORT"]])
