"""A Django site with Python Social Auth in one file, its settings as the manual of Python Social Auth shows them."""

import os
import sys

import django
from django.conf import settings
from django.core.management import call_command, execute_from_command_line
from django.http import HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.urls import include, path

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
        "social_django",
    ],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "social_django.middleware.SocialAuthExceptionMiddleware",
    ],
    AUTHENTICATION_BACKENDS=["social_core.backends.open_id_connect.OpenIdConnectAuth"],
    SOCIAL_AUTH_OIDC_OIDC_ENDPOINT=os.environ["ISSUER"],
    SOCIAL_AUTH_OIDC_KEY=os.environ["CLIENT_ID"],
    SOCIAL_AUTH_OIDC_SECRET=os.environ["CLIENT_SECRET"],
    SOCIAL_AUTH_OIDC_USE_PKCE=True,
    SOCIAL_AUTH_LOGIN_REDIRECT_URL="/me",
    SOCIAL_AUTH_LOGIN_ERROR_URL="/refused",
    SOCIAL_AUTH_RAISE_EXCEPTIONS=False,
)
django.setup()


def start(request):
    field = f'<input type="hidden" name="csrfmiddlewaretoken" value="{get_token(request)}">'
    return HttpResponse(f'<form method="post" action="/accounts/login/oidc/">{field}<button>Sign in with Latchkey</button></form>')


def me(request):
    if not request.user.is_authenticated:
        return JsonResponse({}, status=401)
    account = request.user.social_auth.get(provider="oidc")
    return JsonResponse({"sub": account.uid, "name": request.user.get_full_name(), "email": request.user.email})


def refused(request):
    return JsonResponse({"signed_in": False}, status=403)


urlpatterns = [
    path("", start),
    path("accounts/", include("social_django.urls", namespace="social")),
    path("me", me),
    path("refused", refused),
]

call_command("migrate", verbosity=0)
execute_from_command_line([sys.argv[0], "runserver", "--noreload", "127.0.0.1:" + os.environ["PORT"]])
