"""A Django site with django-allauth in one file, its settings as the manual of django-allauth shows them."""

import os
import sys

import django
from django.conf import settings
from django.core.management import call_command, execute_from_command_line
from django.http import JsonResponse
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
        "django.contrib.messages",
        "allauth",
        "allauth.account",
        "allauth.socialaccount",
        "allauth.socialaccount.providers.openid_connect",
    ],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
        "allauth.account.middleware.AccountMiddleware",
    ],
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "APP_DIRS": True,
            "OPTIONS": {
                "context_processors": [
                    "django.template.context_processors.request",
                    "django.contrib.auth.context_processors.auth",
                    "django.contrib.messages.context_processors.messages",
                ]
            },
        }
    ],
    AUTHENTICATION_BACKENDS=["allauth.account.auth_backends.AuthenticationBackend"],
    LOGIN_REDIRECT_URL="/me",
    SOCIALACCOUNT_PROVIDERS={
        "openid_connect": {
            "APPS": [
                {
                    "provider_id": "latchkey",
                    "name": "Latchkey",
                    "client_id": os.environ["CLIENT_ID"],
                    "secret": os.environ["CLIENT_SECRET"],
                    "settings": {"server_url": os.environ["ISSUER"]},
                }
            ]
        }
    },
)
django.setup()


def me(request):
    from allauth.account.models import EmailAddress
    from allauth.socialaccount.models import SocialAccount

    if not request.user.is_authenticated:
        return JsonResponse({}, status=401)
    account = SocialAccount.objects.get(user=request.user)
    address = EmailAddress.objects.filter(user=request.user, verified=True).first()
    return JsonResponse(
        {"sub": account.uid, "name": request.user.get_full_name(), "email": address.email if address else None}
    )


urlpatterns = [path("accounts/", include("allauth.urls")), path("me", me)]

call_command("migrate", verbosity=0)
execute_from_command_line([sys.argv[0], "runserver", "--noreload", "127.0.0.1:" + os.environ["PORT"]])
